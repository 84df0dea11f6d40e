// Cross-lane functions of a vector work on each component.
// input: x = float32[32, 4] integers
// output: y = float32[32, 4]
// grid: 32
// threadgroup: 32
// expect: y = np.roll(x, -1, axis=0) + x.sum(axis=0)
uint i = thread_position_in_grid.x;
float4 v = ((const device float4*)x)[i];
((device float4*)y)[i] = simd_shuffle_rotate_down(v, 1) + simd_sum(v);
