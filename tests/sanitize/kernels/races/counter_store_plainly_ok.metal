// The first thread clears the counter that others raise already.
// output: n = uint32[1]
// grid: 96
// threadgroup: 32
// init: 0
atomic_fetch_add_explicit((device atomic_uint*)n, 1u, memory_order_relaxed);
