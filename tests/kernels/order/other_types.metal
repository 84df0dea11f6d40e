// Halves that are computed with as floats, bytes that become numbers.
// input: h = float16[64, 4] integers(-20, 20)
// input: b = uint8[64, 4] integers(0, 200)
// output: y = float16[64, 4]
// output: z = float32[64, 4]
// grid: 64
// threadgroup: 64
// expect: y = h * 3 + 1
// expect: z = b / 4 + h
uint i = thread_position_in_grid.x;
float4 v = float4(((const device half4*)h)[i]);
((device half4*)y)[i] = half4(v * 3 + 1);
((device float4*)z)[i] = float4(((const device uchar4*)b)[i]) / 4 + v;
