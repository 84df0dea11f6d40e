// What does not fit saturates, NaN is 0, fractions go towards zero.
// input: x = float32[8] [1e20, -1e20, np.nan, np.inf, -np.inf, 2.9, -2.9, 300]
// output: y = int32[8]
// output: z = uint8[8]
// grid: 8
// expect: y = [2147483647, -2147483648, 0, 2147483647, -2147483648, 2, -2, 300]
// expect: z = [255, 0, 0, 255, 0, 2, 0, 255]
uint t = thread_position_in_grid.x;
y[t] = int(x[t]);
z[t] = uchar(x[t]);
