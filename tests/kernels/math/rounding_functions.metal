// floor, ceil, trunc, rint (to even), round (away from zero), fract.
// input: x = T[60] np.arange(60) / 4 - 7.5
// output: y = T[60, 6]
// dtypes: float32 float16
// grid: 60
// threadgroup: 32
// expect: y = np.stack([np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), np.copysign(np.floor(np.abs(x) + 0.5), x), x - np.floor(x)], axis=1)
uint t = thread_position_in_grid.x;
T v = x[t];
y[6 * t] = floor(v);
y[6 * t + 1] = ceil(v);
y[6 * t + 2] = trunc(v);
y[6 * t + 3] = rint(v);
y[6 * t + 4] = round(v);
y[6 * t + 5] = fract(v);
