// Scans of vectors go component by component.
// dtypes: float32 float16 int32 uint8
// input: x = T[75, 3] integers(-2, 2)
// output: y = T[75, 3]
// grid: 75
// threadgroup: 50
// where:
//     gang = group * 64 + simdgroup
//     def each(f):
//         v = x.astype(np.int64)
//         out = np.zeros(v.shape, v.dtype)
//         for g in np.unique(gang):
//             at = np.flatnonzero(gang == g)
//             out[at] = f(v[at])
//         return out
// expect: y = each(lambda v: 2 * np.cumsum(v, axis=0) - v).astype(x.dtype)
uint i = thread_position_in_grid.x;
vec<T, 3> v(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
v = simd_prefix_exclusive_sum(v) + simd_prefix_inclusive_sum(v);
y[3 * i] = v.x, y[3 * i + 1] = v.y, y[3 * i + 2] = v.z;
