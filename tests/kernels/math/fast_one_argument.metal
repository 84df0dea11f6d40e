// Every function of one argument in metal::fast.
// input: x = float32[40] uniform(0.05, 0.45)
// output: y = float32[40, 30]
// grid: 40
// threadgroup: 40
// where:
//     u = x.astype('d')
// expect: y = np.stack([np.arccos(u), np.arccosh(u + 1), np.arcsin(u), np.arcsinh(u), np.arctan(u),
//         np.arctanh(u), np.ceil(u), np.cos(u), np.cosh(u), np.cos(np.pi * u),
//         np.exp(u), np.exp2(u), 10 ** u, np.abs(u), np.floor(u),
//         u - np.floor(u), np.log(u), np.log2(u), np.log10(u), np.rint(u),
//         np.floor(u + 0.5), 1 / np.sqrt(u), np.sin(u), np.sinh(u), np.sin(np.pi * u),
//         np.sqrt(u), np.tan(u), np.tanh(u), np.tan(np.pi * u), np.trunc(u)], axis=1)
// close: 2e-4
float u = x[thread_position_in_grid.x];
device float* row = y + 30 * thread_position_in_grid.x;
row[0] = fast::acos(u);
row[1] = fast::acosh(u + 1);
row[2] = fast::asin(u);
row[3] = fast::asinh(u);
row[4] = fast::atan(u);
row[5] = fast::atanh(u);
row[6] = fast::ceil(u);
row[7] = fast::cos(u);
row[8] = fast::cosh(u);
row[9] = fast::cospi(u);
row[10] = fast::exp(u);
row[11] = fast::exp2(u);
row[12] = fast::exp10(u);
row[13] = fast::fabs(u);
row[14] = fast::floor(u);
row[15] = fast::fract(u);
row[16] = fast::log(u);
row[17] = fast::log2(u);
row[18] = fast::log10(u);
row[19] = fast::rint(u);
row[20] = fast::round(u);
row[21] = fast::rsqrt(u);
row[22] = fast::sin(u);
row[23] = fast::sinh(u);
row[24] = fast::sinpi(u);
row[25] = fast::sqrt(u);
row[26] = fast::tan(u);
row[27] = fast::tanh(u);
row[28] = fast::tanpi(u);
row[29] = fast::trunc(u);
