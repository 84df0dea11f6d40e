// The mathematical constants of float.
// output: y = float32[13]
// grid: 1
// expect: y = [np.e, 1 / np.log(2), 1 / np.log(10), np.log(2), np.log(10), np.pi, np.pi / 2, np.pi / 4, 1 / np.pi, 2 / np.pi, 2 / np.sqrt(np.pi), np.sqrt(2), np.sqrt(0.5)]
float all[] = {M_E_F, M_LOG2E_F, M_LOG10E_F, M_LN2_F, M_LN10_F, M_PI_F, M_PI_2_F,
               M_PI_4_F, M_1_PI_F, M_2_PI_F, M_2_SQRTPI_F, M_SQRT2_F, M_SQRT1_2_F};
for (int i = 0; i < 13; ++i) y[i] = all[i];
