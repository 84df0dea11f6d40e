// Stored as they lie in memory, and needed by components as well.
// input: x = float32[64, 4] integers(-20, 20)
// output: y = float32[64, 4]
// output: product = float32[64]
// output: turned = float32[64, 4]
// grid: 64
// threadgroup: 32
// expect: y = (x + 1) * 3
// expect: product = np.prod((x + 1) * 3, 1)
// expect: turned = (x + 1)[:, ::-1]
uint i = thread_position_in_grid.x;
float4 v = ((const device float4*)x)[i] + 1;
((device float4*)y)[i] = v * 3;
product[i] = v.x * 3 * (v.y * 3) * (v.z * 3) * (v.w * 3);
((device float4*)turned)[i] = v.wzyx;
