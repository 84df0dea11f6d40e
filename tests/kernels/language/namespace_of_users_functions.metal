// Functions with names that Metal does not have, or has in its own namespace.
// input: x = float32[40] uniform(-2, 2)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = 1 / (1 + np.exp(-x)) + np.clip(x, 0, 1) * 2 + x * x + x ** 3
// close: 1e-5
// header:
inline float sigmoid(float v) { return 1 / (1 + exp(-v)); }
inline float lerp(float a, float b, float s) { return a + (b - a) * s; }
inline float erf(float v) { return v * v; }
inline float hardtanh(float v) { return clamp(v, 0.0f, 1.0f); }
namespace my {
inline float pow(float v, int n) { float r = 1; while (n--) r *= v; return r; }
inline float exp(float v) { return v; }
}
// body:
uint t = thread_position_in_grid.x;
y[t] = sigmoid(x[t]) + lerp(0, 2, hardtanh(x[t])) + erf(x[t]) + my::pow(my::exp(x[t]), 3);
