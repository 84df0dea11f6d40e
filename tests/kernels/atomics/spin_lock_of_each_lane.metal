// Locks that all lanes take, one after the other: the one that has it opens it in its iteration.
// output: y = int32[3]
// grid: 300
// threadgroup: 100
// init: 0
// expect: y = [0, 300 * 299 // 2, 600]
device atomic_int* lock = (device atomic_int*)y;
uint i = thread_position_in_grid.x;
bool done = false;
while (!done) {
  int open = 0;
  if (atomic_compare_exchange_weak_explicit(lock, &open, 1, memory_order_relaxed, memory_order_relaxed)) {
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
    y[1] += i;
    y[2] += 1;
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
    atomic_store_explicit(lock, 0, memory_order_relaxed);
    done = true;
  }
}
while (true) {
  if (atomic_exchange_explicit(lock, 1, memory_order_relaxed) == 0) {
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
    y[2] += 1;
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
    atomic_exchange_explicit(lock, 0, memory_order_relaxed);
    break;
  }
}
