// Scaling halves, also into and out of the subnormal ones.
// input: x = float16[24] np.resize([1, -1.5, 3, 2.0 ** -24, 65504, -2.0 ** -20, 0, 7], 24)
// input: k = int32[24] np.repeat([3, -12, 20], 8)
// output: y = float16[24]
// grid: 12
// threadgroup: 12
// expect: y = np.ldexp(x.astype('d'), k)
uint i = 2 * thread_position_in_grid.x;
half2 v = ldexp(half2(x[i], x[i + 1]), int2(k[i], k[i + 1]));
y[i] = v.x;
y[i + 1] = v.y;
