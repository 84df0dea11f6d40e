// double4 is unknown.
// output: y = float32[4]
// grid: 4
// error: 'double4'[^\0]*hint: use float at 5:1
double4 v = double4(1);
