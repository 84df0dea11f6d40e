// Buffers in a private array of pointers, chosen by index.
// input: a = float32[40] integers(-9, 9)
// input: b = float32[40] integers(-9, 9)
// input: c = float32[40] integers(-9, 9)
// output: y = float32[40]
// output: z = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = a + 2 * b + 3 * c
// expect: z = np.where(tid % 3 == 0, a, np.where(tid % 3 == 1, b, c))
uint t = thread_position_in_grid.x;
const device float* inputs[3] = {a, b, c};
device float* outputs[] = {y, z};
float sum = 0;
#pragma unroll
for (int i = 0; i < 3; i++) sum += (i + 1) * inputs[i][t];
*(outputs[0] + t) = sum;
outputs[1][t] = inputs[t % 3][t];
