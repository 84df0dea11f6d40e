// Threadgroup memory in a function template.
// output: y = float32[4]
// grid: 4
// error: variables in the threadgroup address space can only be declared in a kernel function at 8:3
// header:
template <typename T, int N>
T first(T v) {
  threadgroup T slots[N];
  slots[0] = v;
  return slots[0];
}
// body:
y[thread_position_in_grid.x] = first<float, 4>(1);
