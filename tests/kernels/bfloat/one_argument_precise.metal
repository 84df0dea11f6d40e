// bfloat in and out: MLX's functions compute in float and round once. (In metal::precise.)
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
row[0] = precise::abs(u);
row[1] = precise::acos(u);
row[2] = precise::acosh(w);
row[3] = precise::asin(u);
row[4] = precise::asinh(u);
row[5] = precise::atan(u);
row[6] = precise::atanh(u);
row[7] = precise::ceil(u);
row[8] = precise::cos(u);
row[9] = precise::cosh(u);
row[10] = precise::cospi(u);
row[11] = precise::exp(u);
row[12] = precise::exp10(u);
row[13] = precise::exp2(u);
row[14] = precise::fabs(u);
row[15] = precise::floor(u);
row[16] = precise::fract(u);
row[17] = precise::log(w);
row[18] = precise::log10(w);
row[19] = precise::log2(w);
row[20] = precise::rint(u);
row[21] = precise::round(u);
row[22] = precise::rsqrt(w);
row[23] = precise::sin(u);
row[24] = precise::sinh(u);
row[25] = precise::sinpi(u);
row[26] = precise::sqrt(w);
row[27] = precise::tan(u);
row[28] = precise::tanh(u);
row[29] = precise::tanpi(u);
row[30] = precise::trunc(u);
same[0] = is_same_v<decltype(precise::exp(u)), bfloat> && is_same_v<decltype(precise::floor(u)), bfloat>;
