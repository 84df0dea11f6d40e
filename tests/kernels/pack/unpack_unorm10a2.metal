// 4 normalised numbers out of a word, the first in the lowest bits; into float and half.
// input: x = uint32[60] np.resize(np.r_[[0, 0xffffffff, 0x80808080, 0x7f7f7f7f, 0x80008000, 0x7fff7fff, 1, 0x20080200, 0xc0000000], np.arange(1, 40) * 977777777 % 2**32], 60)
// output: y = float32[60, 4]
// output: z = float16[60, 4]
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
//     exact = fields((10, 10, 10, 2), 0)
// expect: y = exact
// expect: z = exact
// close: 1e-7
uint i = thread_position_in_grid.x;
*(device packed_float4*)(y + 4 * i) = unpack_unorm10a2_to_float(x[i]);
*(device packed_half4*)(z + 4 * i) = unpack_unorm10a2_to_half(x[i]);
