// Several declarators at once, declarations in conditions, init statements.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = np.where(x > 0, x, 0) + np.where(x % 2 == 0, 7, 9) + 3 + x
uint t = thread_position_in_grid.x;
int a = 1, b = 2, c[2] = {0, x[t]}, sum = 0;
const device int *p = x + t, *q = p;
if (int v = x[t] > 0 ? x[t] : 0) sum += v;
if (const int r = x[t] & 1; r == 0) sum += 7; else sum += 9;
for (int i = 0, j = 1; i < j; i++) sum += 0;
switch (int k = a; k) { case 1: sum += a + b; }
y[t] = sum + c[1] + *q - *p;
