// Half arithmetic keeps subnormal numbers.
// input: x = float16[6] [2.0 ** -24, 2.0 ** -20, -(2.0 ** -18), 2.0 ** -14, 1023 * 2.0 ** -24, 3 * 2.0 ** -24]
// output: y = float16[6, 3]
// grid: 6
// expect: y = np.stack([x * 2, x * 0.5, x + x[0]], axis=1)
uint i = thread_position_in_grid.x;
y[3 * i] = x[i] * 2.0h;
y[3 * i + 1] = x[i] * 0.5h;
y[3 * i + 2] = x[i] + x[0];
