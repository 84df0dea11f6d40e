// In full and partial SIMD-groups, in one type after the other; vectors by component.
// dtypes: float32 float16 bfloat16 int32 uint32 int16 uint16 int8 uint8
// input: x = T[75] np.resize([1, 1, 1, 1, 1, 2, 1, -1, 1, 1, 1, 1], 75)
// output: y = T[75]
// output: z = T[75]
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
// expect: y = each(lambda v: np.prod(v)).astype(x.dtype)
// expect: z = each(lambda v: np.prod(v)).astype(x.dtype)
uint i = thread_position_in_grid.x;
y[i] = simd_product(x[i]);
vec<T, 2> pair = simd_product(vec<T, 2>(x[i], T(1)));
z[i] = pair.x;
