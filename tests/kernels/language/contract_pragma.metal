// Contraction turned off as the first thing in the body: the product is rounded.
// input: a = float32[64] uniform(1, 2)
// output: y = float32[64]
// grid: 64
// math_mode: fast
// where: sq = (a * a).astype(np.float32)
// expect: y = sq - a
#pragma METAL fp contract(off)
uint t = thread_position_in_grid.x;
y[t] = a[t] * a[t] - a[t];
