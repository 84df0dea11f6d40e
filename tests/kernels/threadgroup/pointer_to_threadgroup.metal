// A helper that takes a pointer to threadgroup memory.
// input: x = float32[64] integers
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// expect: y = x + np.roll(x, 1) + np.roll(x, -1)
// header:
template <typename T>
T around(threadgroup T* values, uint i, uint n) {
  return values[i] + values[(i + 1) % n] + values[(i + n - 1) % n];
}
// body:
threadgroup float slots[64];
uint i = thread_position_in_grid.x;
slots[i] = x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = around(slots, i, 64u);
