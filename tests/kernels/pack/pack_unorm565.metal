// 3 numbers into a word: clamped, scaled, rounded to nearest even; NaN is 0.
// input: x = float32[50, 3] np.resize(np.r_[[0, 1, -1, 2, -3, np.nan, np.inf, -np.inf, 0.5, -0.5], np.linspace(-1.2, 1.2, 41)], 150)
// output: y = uint16[50]
// output: z = uint16[50]
// grid: 50
// threadgroup: 50
// where:
//     def pack(v):
//         total, place = 0, 0
//         for k, bits in enumerate((5, 6, 5)):
//             inside = np.clip(np.where(np.isnan(v[:, k]), 0, v[:, k]), 0, 1)
//             whole = np.rint(inside * np.float32(2 ** (bits - 0) - 1)).astype(np.int64)
//             total, place = total | (whole & 2 ** bits - 1) << place, place + bits
//         return total
// expect: y = pack(x)
// expect: z = pack(x.astype(np.float16).astype(np.float32))
uint i = thread_position_in_grid.x;
float3 v = *(const device packed_float3*)(x + 3 * i);
y[i] = pack_float_to_unorm565(v);
z[i] = pack_half_to_unorm565(half3(v));
