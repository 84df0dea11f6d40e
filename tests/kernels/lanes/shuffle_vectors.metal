// Vectors travel whole.
// dtypes: float32 float16 bfloat16 int32 uint32 int16 uint16 int8 uint8
// input: x = T[96, 4] random
// output: y = T[96, 4]
// grid: 96
// threadgroup: 64
// expect: y = np.stack([x[:, 0], x[:, 2], np.repeat(x.reshape(3, 32, 4)[:, 26, 0], 32), x.reshape(3, 32, 4)[:, ::-1, 3].ravel()], axis=1)
uint i = thread_position_in_grid.x;
uint lane = thread_index_in_simdgroup;
vec<T, 4> v = ((const device vec<T, 4>*)x)[i];
v = simd_shuffle(v, ushort(31 - lane));
vec<T, 3> w = simd_shuffle_xor(v.xyz, 31);
vec<T, 2> u = simd_broadcast(v.xy, 5);
y[4 * i] = w.x, y[4 * i + 1] = w.z, y[4 * i + 2] = u.x, y[4 * i + 3] = v.w;
