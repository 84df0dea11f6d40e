// and, or, xor of vectors.
// dtypes: uint8 int32
// input: x = T[75, 3] random
// output: y = T[75, 3]
// grid: 75
// threadgroup: 50
// where:
//     gang = group * 64 + simdgroup
//     def each(f, v=None):
//         v = x.astype(np.int64) if v is None else v
//         out = np.zeros(v.shape, v.dtype)
//         for g in np.unique(gang):
//             at = np.flatnonzero(gang == g)
//             out[at] = f(v[at])
//         return out
// expect: y = each(lambda v: np.bitwise_or.reduce(v) & ~np.bitwise_and.reduce(v) ^ np.bitwise_xor.reduce(v), v=x)
uint i = thread_position_in_grid.x;
vec<T, 3> v(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
vec<T, 3> r = simd_or(v) & ~simd_and(v) ^ simd_xor(v);
y[3 * i] = r.x, y[3 * i + 1] = r.y, y[3 * i + 2] = r.z;
