// Explicit specialisation and instantiation, templates of templates, aliases of templates.
// input: x = int32[32] integers(-9, 9)
// output: y = int32[32]
// grid: 32
// expect: y = x + 5 + 10 + 4
// header:
template <typename T> struct Zero { static constexpr constant T value = 5; };
template <> struct Zero<float> { static constexpr constant float value = 10; };
template <template <typename> class C, typename T> T value_of() { return C<T>::value; }
template <typename T> T plus(T a) { return a; }
template int plus<int>(int);
template <> short plus(short a) { return a + 1; }
template <typename T> using Four = metal::vec<T, 4>;
// body:
uint t = thread_position_in_grid.x;
y[t] = plus(x[t]) + value_of<Zero, int>() + int(value_of<Zero, float>()) + plus(short(-1)) +
       Four<int>(1, 2, 3, 4).w;
