// bfloat in and out: MLX's functions compute in float and round once. (In metal::fast.)
// input: x = bfloat16[48] uniform(-0.45, 0.45)
// output: y = bfloat16[48, 31]
// output: same = bool[1]
// grid: 48
// threadgroup: 32
// where:
//     u, w = x.astype('d'), x.astype('d') + 2
//     w = (w.astype(np.float32).view(np.uint32) + 0x8000 & 0xffff0000).view(np.float32).astype('d')
// expect: y = np.stack([np.abs(u), np.arccos(u), np.arccosh(w), np.arcsin(u),
//         np.arcsinh(u), np.arctan(u), np.arctanh(u), np.ceil(u),
//         np.cos(u), np.cosh(u), np.cos(np.pi * u), np.exp(u),
//         10 ** u, 2 ** u, np.abs(u), np.floor(u),
//         u - np.floor(u), np.log(w), np.log10(w), np.log2(w),
//         np.rint(u), np.rint(u), 1 / np.sqrt(w), np.sin(u),
//         np.sinh(u), np.sin(np.pi * u), np.sqrt(w), np.tan(u),
//         np.tanh(u), np.tan(np.pi * u), np.trunc(u)], axis=1)
// expect: same = True
// close: 0
bfloat u = x[thread_position_in_grid.x], w = u + bfloat(2);
device bfloat* row = y + 31 * thread_position_in_grid.x;
row[0] = fast::abs(u);
row[1] = fast::acos(u);
row[2] = fast::acosh(w);
row[3] = fast::asin(u);
row[4] = fast::asinh(u);
row[5] = fast::atan(u);
row[6] = fast::atanh(u);
row[7] = fast::ceil(u);
row[8] = fast::cos(u);
row[9] = fast::cosh(u);
row[10] = fast::cospi(u);
row[11] = fast::exp(u);
row[12] = fast::exp10(u);
row[13] = fast::exp2(u);
row[14] = fast::fabs(u);
row[15] = fast::floor(u);
row[16] = fast::fract(u);
row[17] = fast::log(w);
row[18] = fast::log10(w);
row[19] = fast::log2(w);
row[20] = fast::rint(u);
row[21] = fast::round(u);
row[22] = fast::rsqrt(w);
row[23] = fast::sin(u);
row[24] = fast::sinh(u);
row[25] = fast::sinpi(u);
row[26] = fast::sqrt(w);
row[27] = fast::tan(u);
row[28] = fast::tanh(u);
row[29] = fast::tanpi(u);
row[30] = fast::trunc(u);
same[0] = is_same_v<decltype(fast::exp(u)), bfloat> && is_same_v<decltype(fast::floor(u)), bfloat>;
