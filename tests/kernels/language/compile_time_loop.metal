// A loop over a pack of indices, made by a template that counts.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = x * 30 + 4
// header:
template <int... I> struct Indices { static constexpr constant int count = sizeof...(I); };
template <int N, int... I> struct Make : Make<N - 1, N - 1, I...> {};
template <int... I> struct Make<0, I...> { using type = Indices<I...>; };
template <typename F, int... I>
void each(F f, Indices<I...>) { (f(integral_constant<int, I>()), ...); }
// body:
uint t = thread_position_in_grid.x;
int sum = 0;
using All = Make<4>::type;
each([&](auto i) {
  constexpr int square = (decltype(i)::value + 1) * (decltype(i)::value + 1);
  sum += square * x[t];
}, All());
y[t] = sum + All::count;
