// The first threadgroup publishes a value that the others take.
// input: x = int32[64] integers(0, 9)
// output: y = int32[64]
// output: value = int32[1]
// output: flag = uint32[1]
// grid: 64
// threadgroup: 32
// init: 0
uint i = thread_position_in_grid.x;
threadgroup int seen;
if (i == 0) {
  value[0] = x[0];
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
  atomic_store_explicit((device atomic_uint*)flag, 1u, memory_order_relaxed);
}
if (thread_index_in_threadgroup == 0) {
  while (atomic_load_explicit((device atomic_uint*)flag, memory_order_relaxed) == 0) {
  }
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
  seen = value[0];
}
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = x[i] + seen;
