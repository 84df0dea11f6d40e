// Every function of one argument in metal::precise.
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
// close: 1e-6
float u = x[thread_position_in_grid.x];
device float* row = y + 30 * thread_position_in_grid.x;
row[0] = precise::acos(u);
row[1] = precise::acosh(u + 1);
row[2] = precise::asin(u);
row[3] = precise::asinh(u);
row[4] = precise::atan(u);
row[5] = precise::atanh(u);
row[6] = precise::ceil(u);
row[7] = precise::cos(u);
row[8] = precise::cosh(u);
row[9] = precise::cospi(u);
row[10] = precise::exp(u);
row[11] = precise::exp2(u);
row[12] = precise::exp10(u);
row[13] = precise::fabs(u);
row[14] = precise::floor(u);
row[15] = precise::fract(u);
row[16] = precise::log(u);
row[17] = precise::log2(u);
row[18] = precise::log10(u);
row[19] = precise::rint(u);
row[20] = precise::round(u);
row[21] = precise::rsqrt(u);
row[22] = precise::sin(u);
row[23] = precise::sinh(u);
row[24] = precise::sinpi(u);
row[25] = precise::sqrt(u);
row[26] = precise::tan(u);
row[27] = precise::tanh(u);
row[28] = precise::tanpi(u);
row[29] = precise::trunc(u);
