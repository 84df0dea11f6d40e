// A template that instantiates itself for ever.
// output: y = int32[4]
// grid: 4
// error: recursive template instantiation exceeded maximum depth
// header:
template <int N>
struct Count {
  static constexpr constant int value = Count<N + 1>::value + 1;
};
// body:
y[0] = Count<0>::value;
