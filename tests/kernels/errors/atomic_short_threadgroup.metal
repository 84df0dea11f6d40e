// No atomic short in threadgroup memory.
// output: y = int32[4]
// grid: 4
// error: Metal has atomic<T> for int, uint, bool, float and ulong only at 5:27
threadgroup atomic<short> counter;
y[thread_position_in_grid.x] = 1;
