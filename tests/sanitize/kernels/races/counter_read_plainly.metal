// The counter is raised by atomics, and looked at without.
// output: y = uint32[64]
// output: n = uint32[1]
// grid: 64
// threadgroup: 32
// init: 0
uint i = thread_position_in_grid.x;
uint slot = atomic_fetch_add_explicit((device atomic_uint*)n, 1u, memory_order_relaxed);  // finds: race-atomic (either)
y[i] = n[0] > 0 ? slot : 0;  // finds: race-atomic (either)
