// bool template arguments choose code at compile time.
// input: x = float32[40] integers
// output: y = float32[40]
// template: SQUARE=true SHIFT=-2
// grid: 40
// threadgroup: 32
// expect: y = x * x - 2
uint t = thread_position_in_grid.x;
if constexpr (SQUARE) y[t] = x[t] * x[t] + SHIFT;
else y[t] = x[t];
