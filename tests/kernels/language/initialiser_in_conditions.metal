// Variables declared in `if` and `switch`, and in the condition of `while`.
// input: x = int32[40] integers(0, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = np.where(x % 3 == 1, 100, np.where(x % 3 == 2, 202, 0)) + x
uint t = thread_position_in_grid.x;
int v = 0;
if (const int r = x[t] % 3; r == 1) v = 100;
else if (int twice = 2 * r; twice == 4) v = 200 + r;
switch (int n = x[t]; n) { default: v += n / 2 * 2; }
int left = x[t] % 2;
while (int step = left) { v += step; left -= step; }
y[t] = v;
