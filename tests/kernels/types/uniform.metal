// uniform<T> says that a value is the same in all threads; it is used as a T.
// input: n = int32 5
// input: x = float32[40] integers(0, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 16
// expect: y = x * 5 + 10
uniform<int> times = n;
uniform<float> base = 2.0f * times;
float sum = base;
for (int k = 0; k < times; ++k) sum += x[thread_position_in_grid.x];
y[thread_position_in_grid.x] = sum;
