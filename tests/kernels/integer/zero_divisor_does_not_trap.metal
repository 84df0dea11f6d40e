// Division by zero has no value in Metal, but it must not stop the machine.
// input: x = int32[64] random
// input: y = int32[64] integers(0, 2)
// input: zero = int32 0
// output: q = int32[64]
// output: anything = int32[64]
// grid: 64
// threadgroup: 32
// expect: q = np.where(y != 0, np.sign(x) * (np.abs(x.astype(np.int64)) // np.maximum(y, 1)), 12)
uint t = thread_position_in_grid.x;
int varying = x[t] / y[t];
q[t] = y[t] != 0 ? varying : 12;
anything[t] = x[t] % zero + x[t] / zero + varying;
