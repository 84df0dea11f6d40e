// The last lane has no value: all behind it have no sum.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float mine;
if (i % 32 < 31) mine = x[i];
y[i] = simd_prefix_inclusive_sum(mine);  // finds: undefined-output
