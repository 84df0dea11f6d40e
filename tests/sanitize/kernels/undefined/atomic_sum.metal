// An atomic sum in an output that begins with anything.
// input: x = float32[64] normal
// output: y = float32[8]
// atomic_outputs: true
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
atomic_fetch_add_explicit(&y[i % 8], x[i], memory_order_relaxed);  // finds: missing-init-value
