// INT_MIN / -1 overflows; it must not trap either.
// input: x = int32[32] [-2147483648] * 32
// input: y = int32[32] [-1, 2] * 16
// input: minus = int32 -1
// output: q = int32[32]
// output: anything = int32[32]
// grid: 32
// threadgroup: 32
// expect: q = np.where(y == 2, -2**30, 1)
uint t = thread_position_in_grid.x;
int quotient = x[t] / y[t];
q[t] = y[t] == 2 ? quotient : 1;
anything[t] = quotient + x[t] % y[t] + x[t] / minus;
