// Truth values as numbers: sums are int, any other number is true, and ! makes a truth value.
// input: x = bool[40] random
// input: n = int32[40] integers(-2, 2)
// output: y = int32[40, 4]
// output: z = bool[40, 3]
// grid: 40
// threadgroup: 32
// expect: y = np.stack([2 * x, x * n, np.where(x, n, -n), -(x * 1)], axis=1)
// expect: z = np.stack([n != 0, x ^ (n != 0), (n == 0) | x], axis=1)
uint i = thread_position_in_grid.x;
bool b = x[i], c = n[i];
static_assert(is_same_v<decltype(b + b), int> && sizeof(bool) == 1);
y[4 * i] = b + b;
y[4 * i + 1] = b * n[i];
y[4 * i + 2] = b ? n[i] : -n[i];
y[4 * i + 3] = -b;
z[3 * i] = c;
z[3 * i + 1] = b != c;
z[3 * i + 2] = !c | b;
