// Attributes and pragmas about loops and functions that change nothing.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 6 + 6 + 3 + 6
// header:
[[gnu::always_inline]] inline int same(int v) { return v; }
__attribute__((noinline)) int next(int v) { return v + 1; }
// body:
uint t = thread_position_in_grid.x;
int v = same(x[t]);
[[unroll]] for (int i = 0; i < 4; i++) v += i;
_Pragma("clang loop unroll(disable)") for (int i = 0; i < 4; i++) v += i;
#pragma clang loop unroll(full)
for (int i = 0; i < 3; i++) v = next(v);
#pragma unroll 2
for (int i = 0; i < 4; i++) v += i;
y[t] = v;
