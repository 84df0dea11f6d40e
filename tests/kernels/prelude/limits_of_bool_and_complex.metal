// Limits<bool> and those of complex numbers of three precisions.
// output: y = bool[2]
// output: z = complex64[6]
// grid: 1
// expect: y = [True, False]
// expect: z = [complex(np.inf, np.inf), complex(-np.inf, -np.inf)] * 3
y[0] = Limits<bool>::max, y[1] = Limits<bool>::min;
z[0] = Limits<complex64_t>::max, z[1] = Limits<complex64_t>::min;
z[2] = complex64_t(Limits<complex32_t>::max), z[3] = complex64_t(Limits<complex32_t>::min);
z[4] = complex64_t(Limits<complex_t<bfloat16_t>>::max), z[5] = complex64_t(Limits<complex_t<bfloat16_t>>::min);
