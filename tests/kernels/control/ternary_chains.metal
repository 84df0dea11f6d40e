// Conditions nested in each arm, with side effects only where they are taken.
// input: x = int32[70] integers(-5, 5)
// output: y = int32[70]
// grid: 70
// threadgroup: 32
// expect: y = np.select([x < -2, x < 0, x == 0, x % 2 == 1], [-10, -1, 100, 11], 12) + 1
uint t = thread_position_in_grid.x;
int count = 0;
const int v = x[t];
int r = v < -2 ? (count++, -10) : v < 0 ? (++count, -1) : v == 0 ? (count += 1, 100) : v % 2 ? (count++, 11) : (count++, 12);
y[t] = r + count;
