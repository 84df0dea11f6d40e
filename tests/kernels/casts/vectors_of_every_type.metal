// The same for vectors of four.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float16 bfloat16
// input: x = T[12, 4] integers(0, 120)
// output: y = T[12, 4]
// output: b = bool[12, 4]
// grid: 12
// threadgroup: 8
// expect: y = x
// expect: b = x != 0
uint i = thread_position_in_grid.x;
vec<T, 4> v = ((const device packed_vec<T, 4>*)x)[i];
v = vec<T, 4>(uchar4(char4(v)));
v = vec<T, 4>(ushort4(short4(v)));
v = vec<T, 4>(uint4(int4(v)));
v = vec<T, 4>(ulong4(long4(v)));
v = vec<T, 4>(float4(half4(v)));
v = vec<T, 4>(bfloat4(float4(v)));
((device packed_vec<T, 4>*)y)[i] = v;
bool4 truth = bool4(v);
for (int k = 0; k < 4; ++k) b[4 * i + k] = truth[k];
