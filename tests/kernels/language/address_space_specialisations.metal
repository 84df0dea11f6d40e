// Specialisations of a class that differ only in the address space.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 1
// header:
template <typename T>
struct element_of {};
template <typename T>
struct element_of<thread T*> {
  using type = T;
};
template <typename T>
struct element_of<device T*> {
  using type = T;
};
template <typename T>
struct element_of<threadgroup T*> {
  using type = T;
};
// body:
uint t = thread_position_in_grid.x;
element_of<device float*>::type v = x[t];
y[t] = v + element_of<threadgroup float*>::type(1);
