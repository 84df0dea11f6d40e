// Arguments of two types fit several overloads.
// input: x = float32[4] normal
// output: y = float32[4]
// grid: 4
// error: call to 'f' is ambiguous at 10:8
// header:
inline float f(float a, int b) { return a + b; }
inline float f(int a, float b) { return a + b; }
// body:
y[0] = f(1, 2);
