// A union is read as the larger member after the smaller one was written.
// output: y = uint32[64]
// grid: 64
// threadgroup: 64
// header:
union Either {
  uint word;
  ushort low;
};
// body:
uint i = thread_position_in_grid.x;
Either e;
e.low = ushort(i);
y[i] = e.word;  // finds: undefined-output
