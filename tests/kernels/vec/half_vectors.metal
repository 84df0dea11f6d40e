// half4 rounds after each operation; conversions between vector types.
// input: x = float16[30, 4] normal
// output: y = float16[30, 4]
// output: z = int32[30, 4]
// grid: 30
// threadgroup: 32
// where:
//     h = x.astype(np.float16)
// expect: y = ((h * h).astype(np.float16) + h).astype(np.float16)
// expect: z = np.trunc(x * 10).astype(int)
uint i = thread_position_in_grid.x;
half4 v = ((const device half4*)x)[i];
half4 square = v * v;
((device half4*)y)[i] = square + v;
((device int4*)z)[i] = int4(float4(v) * 10);
