// A maximum that starts with Limits<T>::min, for arrays that hold nothing larger.
// dtypes: float32 float16 bfloat16 int32 uint8
// input: x = T[10, 7] integers(0, 99)
// output: y = T[10]
// grid: 10
// threadgroup: 8
// expect: y = x.max(1)
uint i = thread_position_in_grid.x;
T best = Limits<T>::min;
for (int k = 0; k < 7; ++k) best = max(best, x[7 * i + k]);
y[i] = best;
