// A vector of doubles.
// output: y = float32[4]
// grid: 4
// error: 'double' is not supported in Metal at 5:10
vec<int, double> v;
