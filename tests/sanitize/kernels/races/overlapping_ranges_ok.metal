// Each threadgroup writes one element more than it has.
// input: x = float32[128] normal
// output: y = float32[129]
// grid: 128
// threadgroup: 32
// init: 0
uint i = thread_position_in_grid.x;
y[i] = x[i];
if (thread_index_in_threadgroup == 31) {
  if (i == 127) y[i + 1] = x[i];
}
