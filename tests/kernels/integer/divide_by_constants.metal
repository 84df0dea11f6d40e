// Constant divisors become multiplications.
// input: x = int32[200] random
// output: y = int32[200, 6]
// grid: 200
// threadgroup: 64
// where:
//     def quotient(d):
//         return np.sign(x) * np.sign(d) * (np.abs(x.astype(np.int64)) // abs(d))
//     wide = x.astype(np.int64)
// expect: y = np.stack([quotient(3), quotient(-10), quotient(16), wide - quotient(1000) * 1000, quotient(1), quotient(2**31 - 1)], axis=1)
uint t = thread_position_in_grid.x;
int v = x[t];
y[6 * t] = v / 3;
y[6 * t + 1] = v / -10;
y[6 * t + 2] = v / 16;
y[6 * t + 3] = v % 1000;
y[6 * t + 4] = v / 1;
y[6 * t + 5] = v / 2147483647;
