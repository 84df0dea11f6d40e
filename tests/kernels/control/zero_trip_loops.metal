// Loops that some or all lanes never enter.
// input: n = int32[40] integers(-3, 3)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = np.maximum(n, 0) * 5 + 1
uint t = thread_position_in_grid.x;
int sum = 1;
for (int i = 0; i < n[t]; i++) sum += 5;
for (int i = 0; i < -7; i++) sum += 1000;
y[t] = sum;
