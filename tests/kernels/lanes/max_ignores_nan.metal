// NaN loses against any number.
// dtypes: float32 float16 bfloat16
// input: x = T[75] np.resize([1, np.nan, -3, 5.5, np.nan, np.inf, 7], 75)
// output: y = T[75]
// output: z = T[75]
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
// expect: y = each(np.nanmax, v=x)
// expect: z = each(np.nanmin, v=x)
uint i = thread_position_in_grid.x;
y[i] = simd_max(x[i]);
z[i] = simd_min(x[i]);
