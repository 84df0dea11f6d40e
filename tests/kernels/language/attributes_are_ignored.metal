// Attributes that change nothing here, in both spellings.
// input: x = float32[48] integers(-9, 9)
// output: y = float32[48]
// grid: 48
// threadgroup: 32
// expect: y = x * 4 + 3
// header:
[[maybe_unused]] inline float helper(float v) { return v; }
__attribute__((always_inline)) inline float again(float v) { return v * 2; }
METAL_FUNC float third(float v) { return v * 3; }
__attribute__((noinline)) float fourth(float v) { return v * 4; }
[[nodiscard]] float fifth(float v) { return v; }
// body:
uint t = thread_position_in_grid.x;
float sum = 0;
[[unroll]] for (int i = 0; i < 3; i++) sum += 1;
switch (int(t) & 1) {
  case 0: sum += 0; [[fallthrough]];
  case 1: break;
}
[[maybe_unused]] float unused = again(1) + third(1);
if (__builtin_expect(t < 100, 1)) y[t] = fourth(fifth(x[t])) + sum;
