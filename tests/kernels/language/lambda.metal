// A lambda that captures, and one that is passed on.
// input: x = float32[40] integers
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = 3 * (x + tid) + 3
// header:
template <typename F> float twice(F f, float v) { return f(f(v)); }
// body:
uint t = thread_position_in_grid.x;
float offset = t;
auto shifted = [&](float v) { return v + offset; };
auto tripled = [](float v) { return 3 * v; };
float three = twice([](float v) { return v + 1.5f; }, 0.0f);
y[t] = tripled(shifted(x[t])) + three;
