// Only the thread that counts has executed a fence, before the others had written.
// input: x = float32[256] integers(-9, 9)
// output: partial = float32[256]
// output: counter = uint32[1]
// output: y = float32[1]
// grid: 256
// threadgroup: 64
// init: 0
uint i = thread_position_in_grid.x;
threadgroup uint before;
partial[i] = x[i];
threadgroup_barrier(mem_flags::mem_device);
if (thread_index_in_threadgroup == 0) {
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
  before = atomic_fetch_add_explicit((device atomic_uint*)counter, 1u, memory_order_relaxed);
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
}
threadgroup_barrier(mem_flags::mem_threadgroup);
if (before == threadgroups_per_grid.x - 1 && thread_index_in_threadgroup == 0) {
  float total = 0;
  for (uint k = 0; k < 192; ++k) {
    total += partial[k];
  }
  y[0] = total;
}
