// Many small ways, which meet again.
// input: x = float32[90] uniform(-4, 4)
// output: y = int32[90]
// grid: 90
// threadgroup: 32
// expect: y = 10 * np.select([x < -2, x < -1, x < 0, x < 1], [1, 2, 3, 4], 5) + (x > 0.5)
uint t = thread_position_in_grid.x;
float v = x[t];
int result;
if (v < -2) result = 1;
else if (v < -1) result = 2;
else if (v < 0) result = 3;
else if (v < 1) result = 4;
else result = 5;
result *= 10;
if (v > 0.5f) result += 1;
y[t] = result;
