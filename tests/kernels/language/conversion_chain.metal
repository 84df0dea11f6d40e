// Implicit conversions between scalars in calls, returns and initialisers.
// input: x = int32[32] integers(0, 99)
// output: y = float32[32]
// grid: 32
// expect: y = x * 2.0 + (x > 50) + 3
// header:
inline half narrow(int v) { return v; }
inline float wide(half v) { return v; }
inline bool large(float v) { return v > 50; }
inline int truncated(float v) { return v; }
// body:
uint t = thread_position_in_grid.x;
short s = x[t];
y[t] = wide(narrow(s)) + s + large(x[t]) + truncated(3.9);
