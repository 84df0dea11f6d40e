// A defined one.
// input: x = int32[64] integers(0, 64)
// output: y = uint32[1]
// atomic_outputs: true
// init: 0
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint weight = 1;
if (x[i] > 32) weight = 2;
atomic_fetch_add_explicit(&y[0], weight, memory_order_relaxed);
