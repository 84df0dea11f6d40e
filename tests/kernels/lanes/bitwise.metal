// and, or, xor of the active lanes.
// dtypes: int32 uint32 int16 uint16 int8 uint8
// input: x = T[75] random
// output: y = T[75, 3]
// grid: 75
// threadgroup: 50
// init: 0
// where:
//     gang = group * 64 + simdgroup
//     def each(f, keep=True, v=None):
//         v = x.astype(np.int64) if v is None else v
//         out = np.zeros(v.shape, v.dtype)
//         for g in np.unique(gang):
//             at = np.flatnonzero((gang == g) & keep)
//             if len(at):
//                 out[at] = f(v[at])
//         return out
//     k = tid % 5 != 1
// expect: y = np.stack([each(np.bitwise_and.reduce, k, x | 1), each(np.bitwise_or.reduce, k, x), each(np.bitwise_xor.reduce, k, x)], axis=1)
uint i = thread_position_in_grid.x;
if (i % 5 != 1) {
  y[3 * i] = simd_and(T(x[i] | 1));
  y[3 * i + 1] = simd_or(x[i]);
  y[3 * i + 2] = simd_xor(x[i]);
}
