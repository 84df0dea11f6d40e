// Snell's law for unit vectors; nothing where all light is reflected.
// dtypes: float32 float16
// input: x = T[9, 9] uniform(-2, 2)
// input: z = T[9, 9] uniform(-2, 2)
// output: y = T[9, 9]
// grid: 9
// threadgroup: 9
// where:
//     cut = lambda v: [v[:, :4].astype('d'), v[:, 4:7].astype('d'), v[:, 7:].astype('d')]
//     unit = lambda v: v / np.sqrt((v * v).sum(1, keepdims=True))
//     def bent(i, n):
//         c = (n * i).sum(1, keepdims=True)
//         k = 1 - 1.5 ** 2 * (1 - c * c)
//         return np.where(k < 0, 0, 1.5 * i - (1.5 * c + np.sqrt(np.maximum(k, 0))) * n)
// expect: y = np.concatenate([bent(unit(u), unit(v)) for u, v in zip(cut(x), cut(z))], axis=1)
// close: 1e-6 2e-2
uint i = 9 * thread_position_in_grid.x;
vec<T, 4> a = *(const device packed_vec<T, 4>*)(x + i), p = *(const device packed_vec<T, 4>*)(z + i);
vec<T, 3> b = *(const device packed_vec<T, 3>*)(x + i + 4), q = *(const device packed_vec<T, 3>*)(z + i + 4);
vec<T, 2> c = *(const device packed_vec<T, 2>*)(x + i + 7), r = *(const device packed_vec<T, 2>*)(z + i + 7);
*(device packed_vec<T, 4>*)(y + i) = refract(normalize(a), normalize(p), T(1.5));
*(device packed_vec<T, 3>*)(y + i + 4) = refract(normalize(b), normalize(q), T(1.5));
*(device packed_vec<T, 2>*)(y + i + 7) = refract(normalize(c), normalize(r), T(1.5));
