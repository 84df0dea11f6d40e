// A plain buffer of ulong as atomic_ulong.
// input: x = uint64[70] random
// output: y = uint64[1]
// grid: 70
// threadgroup: 32
// init: 9e18
// expect: y = [min(9 * 10**18, int(x.min()))]
device atomic_ulong* smallest = reinterpret_cast<device atomic_ulong*>(y);
atomic_min_explicit(smallest, x[thread_position_in_grid.x], memory_order_relaxed);
