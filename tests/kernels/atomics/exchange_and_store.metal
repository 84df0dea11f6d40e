// Threads swap values through one slot: none is lost.
// output: sum = int32[1]
// output: slot = int32[1]
// grid: 100
// threadgroup: 100
// init: 0
// atomic_outputs: true
// expect: sum = 5050
// expect: slot = 0
int mine = thread_position_in_grid.x + 1;
int other = atomic_exchange_explicit(slot, mine, memory_order_relaxed);
atomic_fetch_add_explicit(sum, other, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_device);
if (thread_position_in_grid.x == 0) {
  int last = atomic_exchange_explicit(slot, 0, memory_order_relaxed);
  atomic_fetch_add_explicit(sum, last, memory_order_relaxed);
}
