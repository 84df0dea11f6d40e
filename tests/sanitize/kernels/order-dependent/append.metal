// Threads append to a list, and the list is not sorted.
// option: order=shuffle
// finds: order-dependent
// output: n = int32[1]
// output: y = int32[128]
// grid: 128
// threadgroup: 32
// init: 0
uint i = thread_position_in_grid.x;
int slot = atomic_fetch_add_explicit((device atomic_int*)n, 1, memory_order_relaxed);
y[slot] = i;
