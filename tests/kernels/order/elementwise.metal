// Four neighbours a lane, each with factors of its own; a last SIMD-group that is not full.
// input: x = float32[140, 4] integers(-20, 20)
// output: y = float32[140, 4]
// grid: 140
// threadgroup: 64
// expect: y = np.where(x > 3, x * [1, 2, 3, 4] - 7, x * x)
uint i = thread_position_in_grid.x;
float4 v = ((const device float4*)x)[i];
((device float4*)y)[i] = select(v * v, v * float4(1, 2, 3, 4) - 7, v > 3);
