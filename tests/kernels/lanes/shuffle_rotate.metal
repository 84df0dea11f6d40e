// Around the SIMD-group in both directions.
// dtypes: float32 float16 bfloat16 int32 uint32 int16 uint16 int8 uint8
// input: x = T[96] random
// output: y = T[96]
// output: z = T[96]
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
// expect: y = each(lambda v: np.roll(v, 3), v=x)
// expect: z = each(lambda v: np.roll(v, -11), v=x)
uint i = thread_position_in_grid.x;
y[i] = simd_shuffle_rotate_up(x[i], 3);
z[i] = simd_shuffle_rotate_down(x[i], 11);
