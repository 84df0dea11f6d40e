// Over lower lanes, in full and partial groups, and over the active ones of a branch.
// dtypes: float32 float16 bfloat16 int32 uint32 int16 uint16 int8 uint8
// input: x = T[75] np.resize([1, 1, 2, 1, -1, 1, 1, 1, 1, 1, 2, 1, 1], 75)
// output: y = T[75]
// output: z = T[75]
// grid: 75
// threadgroup: 50
// init: 0
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
//     a = tid % 3 == 0
//     b = ~a & (tid % 7 < 4)
// expect: y = each(lambda v: np.cumprod(v)).astype(x.dtype)
// expect: z = (each(lambda v: np.cumprod(v), a) + each(lambda v: np.cumprod(v), b)).astype(x.dtype)
uint i = thread_position_in_grid.x;
y[i] = simd_prefix_inclusive_product(x[i]);
if (i % 3 == 0) z[i] = simd_prefix_inclusive_product(x[i]);
else if (i % 7 < 4) z[i] = simd_prefix_inclusive_product(x[i]);
