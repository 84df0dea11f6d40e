// A macro of the header that makes a family of functions.
// dtypes: float32 int32
// input: x = T[40] integers(-9, 9)
// output: y = T[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 1 + (x - 1) * 2
// header:
#define DEFINE_OP(name, op)                      \
  template <typename U>                          \
  METAL_FUNC U name(U a, U b) {                  \
    return static_cast<U>(a op b);               \
  }
DEFINE_OP(plus, +)
DEFINE_OP(minus, -)
DEFINE_OP(times, *)
#undef DEFINE_OP
// body:
uint t = thread_position_in_grid.x;
const T v = x[t];
y[t] = plus(plus(v, T(1)), times(minus(v, T(1)), T(2)));
