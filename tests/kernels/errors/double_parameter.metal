// A helper of the header that computes in double.
// input: x = float32[4] normal
// output: y = float32[4]
// grid: 4
// error: 'double' is not supported in Metal at 7:22
// header:
inline double square(double v) { return v * v; }
// body:
y[0] = square(x[0]);
