// ilogb of zero, infinity and NaN: the constants that Metal names for them.
// input: x = float32[4] [0, np.inf, np.nan, 1e-30]
// output: y = bool[4]
// output: e = int32[2]
// grid: 4
// expect: y = True
// expect: e = [-2147483648, 2147483647]
uint i = thread_position_in_grid.x;
int k = ilogb(x[i]);
y[i] = i == 0 ? k == FP_ILOGB0 : i == 1 ? k == INT_MAX : i == 2 ? k == FP_ILOGBNAN : k == -100;
if (i == 0) e[0] = FP_ILOGB0, e[1] = FP_ILOGBNAN;
