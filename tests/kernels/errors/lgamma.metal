// Metal has no lgamma either.
// output: y = float32[4]
// grid: 4
// error: undeclared identifier 'lgamma'[^\0]*hint: Metal has no lgamma at 5:32
y[thread_position_in_grid.x] = lgamma(1.0f);
