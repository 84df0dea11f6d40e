// A function pointer that inlining resolves.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = (x * x) * 2 + 1
// header:
typedef int (*unary)(int);
inline int square(int v) { return v * v; }
inline int twice(int v) { return 2 * v; }
int chain(int v, unary first, unary second) { return second(first(v)); }
template <int (*f)(int)>
int apply(int v) { return f(v); }
// body:
uint t = thread_position_in_grid.x;
y[t] = chain(x[t], square, &twice) + apply<square>(1);
