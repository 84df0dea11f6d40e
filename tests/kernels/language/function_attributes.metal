// Attributes of functions and variables that Metal knows and a CPU need not.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 3
// header:
[[visible]] float one(float v) { return v + 1; }
[[stitchable]] [[user_annotation("two")]] float two(float v) { return v + 2; }
METAL_FUNC float three(float v [[maybe_unused]]) { return two(one(v)); }
struct [[gnu::packed]] Tight { char c; float f; };
// body:
uint t = thread_position_in_grid.x;
[[maybe_unused]] const int nothing = 0;
static_assert(sizeof(Tight) == 5, "packed");
coherent(device) device float* out = y;
out[t] = three(x[t]);
