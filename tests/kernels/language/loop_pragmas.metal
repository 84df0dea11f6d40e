// Pragmas about loops, as lines and as _Pragma in macros.
// input: x = int32[32] integers(-99, 99)
// output: y = int32[32]
// grid: 32
// threadgroup: 32
// expect: y = 4 * x + 6 + 6 + 6 + 6 + 10
// header:
#define UNROLL _Pragma("unroll")
#define FULL _Pragma("clang loop unroll(full)")
// body:
uint t = thread_position_in_grid.x;
int sum = 0;
UNROLL for (int i = 0; i < 4; i++) sum += i + x[t];
FULL
for (int i = 0; i < 4; i++) { sum += i; }
#pragma unroll
for (int i = 0; i < 4; i++) sum += i;
#pragma unroll(4)
for (int i = 0; i < 4; i++) sum += i;
#pragma clang loop unroll_count(2) vectorize(enable)
for (int i = 0; i < 5; i++) sum += i;
#pragma nounroll
#pragma mark - nothing
for (int i = 0; i < 4; i++) sum += 0;
y[t] = sum;
