// An atomic maximum without a value to begin with.
// input: x = int32[64] integers(0, 64)
// output: y = uint32[1]
// atomic_outputs: true
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
atomic_fetch_max_explicit(&y[0], uint(x[i]), memory_order_relaxed);  // finds: missing-init-value
