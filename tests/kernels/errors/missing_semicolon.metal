// Clang points behind the token before.
// input: x = float32[4] normal
// output: y = float32[4]
// grid: 4
// error: expected ';' at 6:13
float a = 0.
y[thread_position_in_grid.x] = x[0] + a;
