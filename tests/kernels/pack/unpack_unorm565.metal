// 3 normalised numbers out of a word, the first in the lowest bits; into float and half.
// input: x = uint16[60] np.resize(np.r_[[0, 0xffff, 0x7bef, 0x8410, 1, 0x8000], np.arange(1, 40) * 977777777 % 2**16], 60)
// output: y = float32[60, 3]
// output: z = float16[60, 3]
// grid: 60
// threadgroup: 32
// where:
//     def fields(widths, signed):
//         shift, out = 0, []
//         for b in widths:
//             v = x.astype(np.int64) >> shift & (1 << b) - 1
//             shift += b
//             if signed:
//                 v = np.where(v >> b - 1, v - (1 << b), v)
//             out.append(np.maximum(v / ((1 << b - signed) - 1), -1))
//         return np.stack(out, axis=1)
//     exact = fields((5, 6, 5), 0)
// expect: y = exact
// expect: z = exact
// close: 1e-7
uint i = thread_position_in_grid.x;
*(device packed_float3*)(y + 3 * i) = unpack_unorm565_to_float(x[i]);
*(device packed_half3*)(z + 3 * i) = unpack_unorm565_to_half(x[i]);
