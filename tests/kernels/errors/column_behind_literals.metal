// Columns behind literals without a suffix are the user's.
// template: T=float32
// input: x = float32[4] normal
// output: y = float32[4]
// grid: 4
// threadgroup: 4
// error: use of undeclared identifier 'foo' at 8:49
y[thread_position_in_grid.x] = x[0] * 1.5e-3 +  foo(T(0.25));
