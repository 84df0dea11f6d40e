// bfloat in and out: MLX's functions compute in float and round once. (In metal.)
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
row[0] = abs(u);
row[1] = acos(u);
row[2] = acosh(w);
row[3] = asin(u);
row[4] = asinh(u);
row[5] = atan(u);
row[6] = atanh(u);
row[7] = ceil(u);
row[8] = cos(u);
row[9] = cosh(u);
row[10] = cospi(u);
row[11] = exp(u);
row[12] = exp10(u);
row[13] = exp2(u);
row[14] = fabs(u);
row[15] = floor(u);
row[16] = fract(u);
row[17] = log(w);
row[18] = log10(w);
row[19] = log2(w);
row[20] = rint(u);
row[21] = round(u);
row[22] = rsqrt(w);
row[23] = sin(u);
row[24] = sinh(u);
row[25] = sinpi(u);
row[26] = sqrt(w);
row[27] = tan(u);
row[28] = tanh(u);
row[29] = tanpi(u);
row[30] = trunc(u);
same[0] = is_same_v<decltype(exp(u)), bfloat> && is_same_v<decltype(floor(u)), bfloat>;
