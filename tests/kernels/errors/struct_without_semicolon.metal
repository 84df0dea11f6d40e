// The end of a struct in the header.
// output: y = float32[4]
// grid: 4
// error: expected ';' after struct at 6:26
// header:
struct Point { float u; }
inline float f(Point p) { return p.u; }
// body:
y[0] = f(Point{1});
