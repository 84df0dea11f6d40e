// The limits that C keeps in headers.
// output: y = float32[10]
// output: z = int64[16]
// grid: 1
// where:
//     f = np.finfo(np.float32)
//     h = np.finfo(np.float16)
// expect: y = [f.max, f.tiny, f.eps, f.max, np.inf, np.inf, np.nan, h.max, h.tiny, h.eps]
// expect: z = [127, -128, 255, 127, -128, 32767, -32768, 65535, 2**31 - 1, -2**31, 2**32 - 1, 2**63 - 1, -2**63, 8, 24, 11]
float reals[] = {FLT_MAX, FLT_MIN, FLT_EPSILON, MAXFLOAT, HUGE_VALF, INFINITY, NAN,
                 HALF_MAX, HALF_MIN, HALF_EPSILON};
long whole[] = {SCHAR_MAX, SCHAR_MIN, UCHAR_MAX, CHAR_MAX, CHAR_MIN, SHRT_MAX, SHRT_MIN, USHRT_MAX,
                INT_MAX, INT_MIN, UINT_MAX, LONG_MAX, LONG_MIN, CHAR_BIT, FLT_MANT_DIG, HALF_MANT_DIG};
for (int i = 0; i < 10; ++i) y[i] = reals[i];
for (int i = 0; i < 16; ++i) z[i] = whole[i];
