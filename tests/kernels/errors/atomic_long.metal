// 64-bit atomics are unsigned.
// output: y = int64[4]
// grid: 4
// atomic_outputs: true
// error: Metal has atomic<T> for int, uint, bool, float and ulong only
y[thread_position_in_grid.x].nothing = 1;
