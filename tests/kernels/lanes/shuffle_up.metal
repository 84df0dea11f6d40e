// Lanes without a lane below keep their own value.
// dtypes: float32 float16 bfloat16 int32 uint32 int16 uint16 int8 uint8
// input: x = T[75] random
// output: y = T[75]
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
// expect: y = each(lambda v: np.concatenate([v[:5], v[:-5]]), v=x)
uint i = thread_position_in_grid.x;
y[i] = simd_shuffle_up(x[i], 5);
