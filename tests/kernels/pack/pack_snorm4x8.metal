// 4 numbers into a word: clamped, scaled, rounded to nearest even; NaN is 0.
// input: x = float32[50, 4] np.resize(np.r_[[0, 1, -1, 2, -3, np.nan, np.inf, -np.inf, 0.5, -0.5], np.linspace(-1.2, 1.2, 41)], 200)
// output: y = uint32[50]
// output: z = uint32[50]
// grid: 50
// threadgroup: 50
// where:
//     def pack(v):
//         total, place = 0, 0
//         for k, bits in enumerate((8, 8, 8, 8)):
//             inside = np.clip(np.where(np.isnan(v[:, k]), 0, v[:, k]), -1, 1)
//             whole = np.rint(inside * np.float32(2 ** (bits - 1) - 1)).astype(np.int64)
//             total, place = total | (whole & 2 ** bits - 1) << place, place + bits
//         return total
// expect: y = pack(x)
// expect: z = pack(x.astype(np.float16).astype(np.float32))
uint i = thread_position_in_grid.x;
float4 v = *(const device packed_float4*)(x + 4 * i);
y[i] = pack_float_to_snorm4x8(v);
z[i] = pack_half_to_snorm4x8(half4(v));
