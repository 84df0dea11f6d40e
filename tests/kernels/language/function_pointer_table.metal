// Functions in an array, chosen by a constant that inlining knows.
// input: x = float32[40] normal
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = (x + 1) * 2 + np.where(np.arange(40) % 2, x, x * x)
// close: 1e-6
// header:
inline float next(float v) { return v + 1; }
inline float twice(float v) { return v * 2; }
inline float same(float v) { return v; }
inline float square(float v) { return v * v; }
template <float (*F)(float)> float through(float v) { return F(v); }
using Function = float (*)(float);
inline float call(Function f, float v) { return f(v); }
// body:
uint t = thread_position_in_grid.x;
float v = through<twice>(call(next, x[t]));
y[t] = v + (t % 2 ? call(same, x[t]) : call(&square, x[t]));
