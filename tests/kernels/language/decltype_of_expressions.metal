// Types taken from expressions, for variables, results and template arguments.
// dtypes: float16 int32
// input: x = T[40] integers(-9, 9)
// output: y = T[40]
// grid: 40
// threadgroup: 32
// expect: y = x * 2 + 3
// header:
template <typename A, typename B>
auto product(A a, B b) -> decltype(a * b) { return a * b; }
template <typename A>
decltype(auto) first(thread A& a) { return (a[0]); }
// body:
uint t = thread_position_in_grid.x;
decltype(x[t] + x[t]) sum = x[t] + x[t];
remove_cv_t<remove_reference_t<decltype(x[0])>> list[2] = {T(1), T(2)};
first(list) += 1;
static_assert(is_same_v<decltype(product(half(1), 2)), half>, "half times int");
y[t] = static_cast<T>(sum + list[0] + product(T(1), T(1)));
