// The constants of half are those of float, rounded; its largest number and infinity.
// output: y = float16[15]
// output: z = bool[2]
// grid: 1
// expect: y = [np.e, 1 / np.log(2), 1 / np.log(10), np.log(2), np.log(10), np.pi, np.pi / 2, np.pi / 4, 1 / np.pi, 2 / np.pi, 2 / np.sqrt(np.pi), np.sqrt(2), np.sqrt(0.5), 65504, np.inf]
// expect: z = True
half all[] = {M_E_H, M_LOG2E_H, M_LOG10E_H, M_LN2_H, M_LN10_H, M_PI_H, M_PI_2_H, M_PI_4_H,
              M_1_PI_H, M_2_PI_H, M_2_SQRTPI_H, M_SQRT2_H, M_SQRT1_2_H, MAXHALF, HUGE_VALH};
for (int i = 0; i < 15; ++i) y[i] = all[i];
z[0] = is_same_v<decltype(M_PI_H), half>;
z[1] = isinf(HUGE_VALH) && isfinite(MAXHALF);
