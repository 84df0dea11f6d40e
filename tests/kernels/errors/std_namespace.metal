// There is no C++ standard library.
// input: x = float32[4] normal
// output: y = float32[4]
// grid: 4
// error: 'std'[^\0]*hint: Metal has no C\+\+ standard library at 6:32
y[thread_position_in_grid.x] = std::exp(x[0]);
