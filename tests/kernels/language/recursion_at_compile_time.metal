// Templates and constexpr functions that call themselves with constants.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = x * 720 + 55
// header:
template <int N> struct Factorial { enum { value = N * Factorial<N - 1>::value }; };
template <> struct Factorial<0> { enum { value = 1 }; };
constexpr int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
// body:
uint t = thread_position_in_grid.x;
constexpr int f = fibonacci(10);
y[t] = x[t] * Factorial<6>::value + f;
