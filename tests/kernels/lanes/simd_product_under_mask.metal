// Only lanes in the same branch take part.
// dtypes: float32 bfloat16 int32 uint8
// input: x = T[75] np.resize([1, 1, 2, 1, 1, 1, 1, 3, 1, 1, 1, 1, 1], 75)
// output: y = T[75]
// grid: 75
// threadgroup: 50
// where:
//     gang = group * 64 + simdgroup
//     def each(f, keep=True):
//         v = x.astype(np.int64)
//         out = np.zeros(v.shape, v.dtype)
//         for g in np.unique(gang):
//             at = np.flatnonzero((gang == g) & keep)
//             if len(at):
//                 out[at] = f(v[at])
//         return out
// expect: y = (each(lambda v: np.prod(v), x > 1) + each(lambda v: np.prod(v), x <= 1)).astype(x.dtype)
uint i = thread_position_in_grid.x;
if (x[i] > T(1)) y[i] = simd_product(x[i]);
else y[i] = simd_product(x[i]);
