// The value of the lowest active lane, another one in each branch.
// dtypes: float32 float16 bfloat16 int32 uint32 int16 uint16 int8 uint8
// input: x = T[75] random
// output: y = T[75]
// grid: 75
// threadgroup: 50
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
// expect: y = np.where(lane % 3 == 2, each(lambda v: v[0], lane % 3 == 2, x), np.where(lane > 4, each(lambda v: v[0], (lane % 3 != 2) & (lane > 4), x), x))
uint i = thread_position_in_grid.x;
uint lane = thread_index_in_simdgroup;
if (lane % 3 == 2) y[i] = simd_broadcast_first(x[i]);
else if (lane > 4) y[i] = simd_broadcast_first(x[i]);
else y[i] = x[i];
