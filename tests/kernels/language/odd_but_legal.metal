// Comma operators, nested ternaries, a switch without a case that matches.
// input: x = int32[50] integers(-10, 10)
// output: y = int32[50]
// grid: 50
// threadgroup: 32
// expect: y = np.where(x < 0, -1, np.where(x == 0, 0, 1)) + 2 * x + 10
uint t = thread_position_in_grid.x;
int a, b;
for (a = 0, b = 10; a < 2; a++, b += x[t]) {}
switch (a) { case 17: b = 1000; }
y[t] = (x[t] < 0 ? -1 : x[t] == 0 ? 0 : 1) + b;
