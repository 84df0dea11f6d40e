// Padding between fields is no finding, also if the struct is copied.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// header:
struct Entry {
  uchar tag;
  float value;
};
// body:
uint i = thread_position_in_grid.x;
Entry e;
e.tag = uchar(i);
e.value = x[i];
Entry copy = e;
y[i] = copy.value + copy.tag;
