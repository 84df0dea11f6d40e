// A base class without virtual functions, as MLX's own headers use it.
// input: x = int32[32] integers(-9, 9)
// output: y = int32[32]
// grid: 32
// expect: y = (x + 1) * 3
// header:
struct Base { int v; int plus(int n) const { return v + n; } };
template <typename Derived>
struct Tripled : Base {
  int tripled() const { return static_cast<const thread Derived*>(this)->plus(1) * 3; }
};
struct Final final : Tripled<Final> {};
// body:
uint t = thread_position_in_grid.x;
Final f;
f.v = x[t];
y[t] = f.tripled();
