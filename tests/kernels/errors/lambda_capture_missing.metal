// A lambda that captures nothing.
// output: y = float32[4]
// grid: 4
// error: variable 'scale' cannot be implicitly captured in a lambda at 6:35
float scale = 2;
auto f = [](float v) { return v * scale; };
y[0] = f(1);
