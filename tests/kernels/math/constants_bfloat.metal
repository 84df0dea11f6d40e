// The constants of bfloat are those of float, rounded; its largest number and infinity.
// output: y = bfloat16[15]
// output: z = bool[2]
// grid: 1
// expect: y = [np.e, 1 / np.log(2), 1 / np.log(10), np.log(2), np.log(10), np.pi, np.pi / 2, np.pi / 4, 1 / np.pi, 2 / np.pi, 2 / np.sqrt(np.pi), np.sqrt(2), np.sqrt(0.5), 255 * 2.0 ** 120, np.inf]
// expect: z = True
bfloat all[] = {M_E_BF, M_LOG2E_BF, M_LOG10E_BF, M_LN2_BF, M_LN10_BF, M_PI_BF, M_PI_2_BF, M_PI_4_BF,
              M_1_PI_BF, M_2_PI_BF, M_2_SQRTPI_BF, M_SQRT2_BF, M_SQRT1_2_BF, MAXBFLOAT, HUGE_VALBF};
for (int i = 0; i < 15; ++i) y[i] = all[i];
z[0] = is_same_v<decltype(M_PI_BF), bfloat>;
z[1] = isinf(HUGE_VALBF) && isfinite(MAXBFLOAT);
