// The ways to write a program-scope constant that kernels use.
// input: x = float32[20] integers(-5, 5)
// output: y = float32[20]
// grid: 20
// expect: y = x * 2 + 3 + 4 + 5 + 6 + 7
// header:
constant float two = 2;
constant constexpr int three = 3;
constexpr constant int four = 4;
static constant float five = 5.0;
static constexpr constant uint six = 6;
constant static constexpr const int seven = 7;
// body:
uint t = thread_position_in_grid.x;
y[t] = x[t] * two + three + four + five + six + seven;
