// Distances 0, 1 and 31.
// dtypes: float32 int32 uint16
// input: x = T[96] integers(0, 9)
// output: y = T[96]
// grid: 96
// threadgroup: 64
// where:
//     gang = group * 64 + simdgroup
//     def each(f, v=None):
//         v = x.astype(np.int64) if v is None else v
//         out = np.zeros(v.shape, v.dtype)
//         for g in np.unique(gang):
//             at = np.flatnonzero(gang == g)
//             out[at] = f(v[at])
//         return out
// expect: y = each(lambda v: v + np.where(np.arange(32) < 1, v[31], v) + np.where(np.arange(32) > 30, v[0], v) + v[np.r_[1:32, 31]], v=x)
uint i = thread_position_in_grid.x;
y[i] = simd_shuffle_up(x[i], 0) + simd_shuffle_down(x[i], 31) + simd_shuffle_up(x[i], 31) + simd_shuffle_down(x[i], 1);
