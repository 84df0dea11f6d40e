// A cast to double.
// input: x = float32[4] normal
// output: y = float32[4]
// grid: 4
// error: 'double' is not supported in Metal[^\0]*hint: use float at 6:20
y[0] = static_cast<double>(x[0]);
