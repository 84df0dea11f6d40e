// The counter is raised by atomics, and looked at without.
// output: y = uint32[64]
// output: n = uint32[1]
// grid: 64
// threadgroup: 32
// init: 0
uint i = thread_position_in_grid.x;
uint slot = atomic_fetch_add_explicit((device atomic_uint*)n, 1u, memory_order_relaxed);
y[i] = slot;
