// All are; they are copied with their padding.
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
Entry all[6];
for (uint k = 0; k < 6; ++k) {
  all[k].tag = uchar(k);
  all[k].value = x[(i + k) % 64];
}
Entry one = all[i % 6];
y[i] = one.value * one.tag;
