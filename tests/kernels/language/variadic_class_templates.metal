// A tuple by recursion, indexed at compile time.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 2 * (x + 1) + 3
// header:
template <typename... T> struct Tuple;
template <> struct Tuple<> {};
template <typename H, typename... T> struct Tuple<H, T...> { H head; Tuple<T...> tail; };
template <int I, typename H, typename... T>
auto at(Tuple<H, T...> t) {
  if constexpr (I == 0) return t.head;
  else return at<I - 1>(t.tail);
}
template <typename... T> constexpr int count(Tuple<T...>) { return sizeof...(T); }
// body:
uint t = thread_position_in_grid.x;
Tuple<float, half, short> all = {x[t], {half(x[t] + 1), {1, {}}}};
y[t] = at<0>(all) + 2 * float(at<1>(all)) + count(all) * at<2>(all);
