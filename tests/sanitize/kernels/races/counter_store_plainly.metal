// The first thread clears the counter that others raise already.
// output: n = uint32[1]
// grid: 96
// threadgroup: 32
// init: 0
if (thread_position_in_grid.x == 0) {
  n[0] = 0;  // finds: race-atomic (either)
}
atomic_fetch_add_explicit((device atomic_uint*)n, 1u, memory_order_relaxed);  // finds: race-atomic (either)
