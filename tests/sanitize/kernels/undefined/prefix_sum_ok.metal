// The sum in front of a lane does not need its own value.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float mine;
if (i % 32 < 31) mine = x[i];
y[i] = simd_prefix_exclusive_sum(mine);
