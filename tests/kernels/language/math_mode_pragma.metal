// A block with a math mode of its own, as a line and as an operator.
// input: a = float32[64] uniform(1, 2)
// output: y = float32[64]
// grid: 64
// math_mode: fast
// expect: y = ((a + np.float32(1e8)) - np.float32(1e8)) + 1
// header:
#define SAFE _Pragma("METAL fp math_mode(safe)")
inline float rest(float v) {
  SAFE
  return (v + 1e8f) - 1e8f;
}
// body:
#pragma METAL fp math_mode(relaxed)
#pragma METAL fp reassociate(off)
uint t = thread_position_in_grid.x;
float v = rest(a[t]);
{
#pragma METAL fp math_mode(safe)
  y[t] = v + 1.0f;
}
