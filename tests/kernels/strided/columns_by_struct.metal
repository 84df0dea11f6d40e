// A view with a stride, as a struct with a subscript.
// input: x = float32[8,32] integers(-9, 9)
// output: y = float32[32]
// grid: 32
// expect: y = (x * (np.arange(8) + 1)[:, None]).sum(0)
// header:
template <typename T>
struct Strided {
  const device T* start;
  uint step;
  T operator[](uint i) const { return start[i * step]; }
  Strided from(uint i) const { return {start + i * step, step}; }
};
// body:
uint t = thread_position_in_grid.x;
Strided<float> column = {x + t, 32};
float sum = 0;
for (uint i = 0; i < 4; i++) sum += column[i] * (i + 1) + column.from(4)[i] * (i + 5);
y[t] = sum;
