// mul24 and mad24 of vectors whose components stay below 24 bits.
// dtypes: int32 uint32
// input: x = T[12, 3] integers(0, 46000)
// input: z = T[12, 3] integers(0, 46000)
// output: y = T[12, 6]
// grid: 12
// threadgroup: 5
// expect: y = np.concatenate([x * z, x * z + z], axis=1)
uint i = thread_position_in_grid.x;
vec<T, 3> a = *(const device packed_vec<T, 3>*)(x + 3 * i);
vec<T, 3> b = *(const device packed_vec<T, 3>*)(z + 3 * i);
((device packed_vec<T, 3>*)y)[2 * i] = mul24(a, b);
((device packed_vec<T, 3>*)y)[2 * i + 1] = mad24(a, b, b);
