// A function that C has and Metal has not: the hint says how to do without.
// output: y = float32[4]
// grid: 4
// error: undeclared identifier 'cbrt'[^\0]*hint: Metal has no cbrt: write copysign at 5:8
y[0] = cbrt(27.0f);
