// As the smaller one.
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
e.word = i;
y[i] = e.low;
