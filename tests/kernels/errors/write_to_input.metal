// Inputs are const.
// input: x = float32[10] normal
// output: y = float32[10]
// grid: 10
// error: (const|read-only) at 6:43
y[thread_position_in_grid.x] = 1.0f; x[0] = 2.0f;
