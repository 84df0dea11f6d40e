// Sums of components that leave by atomic additions to neighbours.
// input: x = float32[8, 64, 4] integers(-20, 20)
// output: y = float32[64, 4]
// grid: 64 2
// threadgroup: 64
// init: 0
// atomic_outputs: true
// expect: y = x.sum(0)
uint column = thread_position_in_grid.x;
float4 sum = 0;
for (uint k = 0; k < 4; ++k) {
  sum += ((const device float4*)x)[(thread_position_in_grid.y * 4 + k) * 64 + column];
}
for (uint c = 0; c < 4; ++c) {
  atomic_fetch_add_explicit(&y[column * 4 + c], sum[c], memory_order_relaxed);
}
