// Member functions and templates defined outside of their class.
// input: x = int32[40] integers(-9, 9)
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = x * 2 + 7
// header:
template <typename T>
struct Adder {
  T v;
  explicit Adder(T start);
  T plus(T other) const;
  template <typename U> T times(U factor) const;
};
template <typename T> Adder<T>::Adder(T start) : v(start) {}
template <typename T> T Adder<T>::plus(T other) const { return v + other; }
template <typename T> template <typename U> T Adder<T>::times(U factor) const { return T(v * factor); }
// body:
uint t = thread_position_in_grid.x;
Adder<int> a(x[t]);
y[t] = Adder<int>(a.times(2)).plus(7);
