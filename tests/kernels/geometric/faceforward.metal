// The normal, turned against the incident direction.
// dtypes: float32 float16
// input: x = T[9, 9] uniform(-2, 2)
// input: z = T[9, 9] uniform(-2, 2)
// output: y = T[9, 9]
// grid: 9
// threadgroup: 9
// where:
//     cut = lambda v: [v[:, :4].astype('d'), v[:, 4:7].astype('d'), v[:, 7:].astype('d')]
// expect: y = np.concatenate([np.where(((u + v) * v).sum(1, keepdims=True) < 0, u, -u) for u, v in zip(cut(x), cut(z))], axis=1)
// close: 1e-6 1e-6
uint i = 9 * thread_position_in_grid.x;
vec<T, 4> a = *(const device packed_vec<T, 4>*)(x + i), p = *(const device packed_vec<T, 4>*)(z + i);
vec<T, 3> b = *(const device packed_vec<T, 3>*)(x + i + 4), q = *(const device packed_vec<T, 3>*)(z + i + 4);
vec<T, 2> c = *(const device packed_vec<T, 2>*)(x + i + 7), r = *(const device packed_vec<T, 2>*)(z + i + 7);
*(device packed_vec<T, 4>*)(y + i) = faceforward(a, p, a + p);
*(device packed_vec<T, 3>*)(y + i + 4) = faceforward(b, q, b + q);
*(device packed_vec<T, 2>*)(y + i + 7) = faceforward(c, r, c + r);
