// Zeros keep their sign through rounding, and -0.0 is what the bits say.
// input: x = float32[4] [0.0, -0.0, 0.3, -0.3]
// output: y = bool[4, 10]
// grid: 4
// expect: y = np.repeat(np.signbit(x)[:, None], 10, axis=1)
float v = x[thread_position_in_grid.x];
device bool* row = y + 10 * thread_position_in_grid.x;
row[0] = signbit(trunc(v));
row[1] = signbit(round(v));
row[2] = signbit(rint(v));
row[3] = signbit(copysign(0.0f, v));
row[4] = signbit(sin(v));
row[5] = signbit(tan(v));
row[6] = signbit(atan(v));
row[7] = signbit(sinpi(v));
row[8] = signbit(fmod(v, 1.0f));
row[9] = (as_type<uint>(v) >> 31) != 0;
