// A scalar beside a vector converts to the element type first, even if it narrows.
// input: x = int16[4] [1, 2, 3, 4]
// output: y = int16[12]
// output: h = float16[4]
// grid: 1
// where:
//     narrow = np.array([100000], np.int64).astype(np.int16)[0]
// expect: y = np.r_[x * narrow, x + np.int16(7), np.int16(20) - x]
// expect: h = [2, 3, 4, 5]
short4 v(x[0], x[1], x[2], x[3]);
short4 a = v * 100000, b = v + 7, c = 20 - v;
half4 d = half4(v) + 1;
for (int k = 0; k < 4; ++k) y[k] = a[k], y[4 + k] = b[k], y[8 + k] = c[k], h[k] = d[k];
