// Neighbours meet values that come from elsewhere, others in each lane and component.
// input: x = float32[64, 4] integers(-20, 20)
// input: f = float32[64] integers(-9, 9)
// output: y = float32[64, 4]
// output: z = float32[64, 4]
// grid: 64
// threadgroup: 64
// where: other = np.stack([f, f[::-1], f + 1, f * 2], 1)
// expect: y = x * x + x - other
// expect: z = x * x + x
uint i = thread_position_in_grid.x;
float4 v = ((const device float4*)x)[i];
v = v * v + v;
((device float4*)z)[i] = v;
((device float4*)y)[i] = v - float4(f[i], f[63 - i], f[i] + 1, f[i] * 2);
