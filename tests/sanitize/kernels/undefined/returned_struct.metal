// A function returns a struct of which a field is set on one way only.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// header:
struct Entry {
  uchar tag;
  float value;
};
Entry entry(const device float* x, uint i) {
  Entry e;
  e.tag = 0;
  if (x[i] > 0) e.value = x[i];
  return e;
}
// body:
uint i = thread_position_in_grid.x;
Entry e = entry(x, i);
y[i] = e.value;  // finds: undefined-output
