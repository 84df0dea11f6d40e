// Only lanes that have a divisor divide.
// input: x = uint32[100] random
// input: y = uint32[100] integers(0, 3)
// output: q = uint32[100]
// grid: 100
// threadgroup: 32
// expect: q = np.where(y > 0, x // np.maximum(y, 1), x)
uint t = thread_position_in_grid.x;
uint v = x[t];
if (y[t] != 0) v /= y[t];
q[t] = v;
