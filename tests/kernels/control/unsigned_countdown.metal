// A loop that ends when an unsigned counter wraps.
// input: x = float32[64] integers(-9, 9)
// output: y = float32[8]
// grid: 8
// expect: y = x.reshape(8, 8)[:, ::-1] @ (np.arange(8) + 1)
uint t = thread_position_in_grid.x;
float sum = 0;
int factor = 1;
for (uint i = 7; i < 8; i--) sum += x[t * 8 + i] * factor++;
y[t] = sum;
