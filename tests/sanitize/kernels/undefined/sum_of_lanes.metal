// Lanes without a value take part in a sum.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float mine;
if (x[i] > 0) mine = x[i];
y[i] = simd_sum(mine);  // finds: undefined-output
