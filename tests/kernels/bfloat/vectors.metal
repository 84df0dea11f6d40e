// bfloat4 in memory, and its functions by way of float4.
// input: x = bfloat16[16, 4] uniform(-3, 3)
// output: y = bfloat16[16, 4]
// output: z = bfloat16[16, 4]
// grid: 16
// threadgroup: 8
// expect: y = np.exp(x)
// expect: z = x[:, ::-1]
uint i = thread_position_in_grid.x;
bfloat4 v = ((const device bfloat4*)x)[i];
((device bfloat4*)y)[i] = bfloat4(exp(float4(v)));
((device packed_bfloat4*)z)[i] = v.wzyx;
