// Metal has no erf; the hint says what to do.
// output: y = float32[4]
// grid: 4
// error: undeclared identifier 'erf'[^\0]*hint: Metal has no erf at 5:32
y[thread_position_in_grid.x] = erf(1.0f);
