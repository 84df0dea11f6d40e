// Butterflies of all distances, floats too.
// dtypes: float32 float16 bfloat16 int32 uint32 int16 uint16 int8 uint8
// input: x = T[96] integers(-3, 3)
// output: y = T[96]
// grid: 96
// threadgroup: 64
// where:
//     gang = group * 64 + simdgroup
//     def each(f):
//         v = x.astype(np.int64)
//         out = np.zeros(v.shape, v.dtype)
//         for g in np.unique(gang):
//             at = np.flatnonzero(gang == g)
//             out[at] = f(v[at])
//         return out
// expect: y = each(lambda v: v.sum()).astype(x.dtype)
uint i = thread_position_in_grid.x;
T total = x[i];
for (ushort mask = 1; mask < 32; mask *= 2) total += simd_shuffle_xor(total, mask);
y[i] = total;
