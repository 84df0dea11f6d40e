// numeric_limits of float, half and bfloat.
// dtypes: float32 float16 bfloat16
// output: y = T[6]
// output: z = bool[3]
// output: n = int32[4]
// grid: 1
// where:
//     p, e = {"float32": (24, 128), "float16": (11, 16), "bfloat16": (8, 128)}[dtype]
//     large = (2 - 2.0 ** (1 - p)) * 2.0 ** (e - 1)
// expect: y = [large, 2.0 ** (2 - e), -large, 2.0 ** (1 - p), np.inf, 0.5]
// expect: z = True
// expect: n = [p, e, 3 - e, 2]
using L = numeric_limits<T>;
T all[] = {L::max(), L::min(), L::lowest(), L::epsilon(), L::infinity(), L::round_error()};
for (int i = 0; i < 6; ++i) y[i] = all[i];
z[0] = isnan(L::quiet_NaN());
z[1] = L::has_quiet_NaN;
z[2] = L::has_infinity && L::is_signed && !L::is_integer && L::is_iec559;
n[0] = L::digits, n[1] = L::max_exponent, n[2] = L::min_exponent, n[3] = L::radix;
