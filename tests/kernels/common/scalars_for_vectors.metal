// Scalars as bounds, edges and weights of vectors.
// input: x = float32[16, 4] uniform(-2, 2)
// output: y = float32[16, 12]
// grid: 16
// threadgroup: 16
// where:
//     half = x + (1 - x) * 0.5
// expect: y = np.concatenate([np.clip(x, -1, 1), half, x >= 0.5], axis=1)
// close: 1e-6
uint i = thread_position_in_grid.x;
float4 v = ((const device float4*)x)[i];
device float4* row = (device float4*)y + 3 * i;
row[0] = clamp(v, -1.0f, 1.0f);
row[1] = mix(v, float4(1.0f), 0.5f);
row[2] = step(0.5f, v);
