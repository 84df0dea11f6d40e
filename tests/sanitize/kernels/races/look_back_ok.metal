// Fences on both sides of the flag.
// input: x = int32[256] integers(0, 9)
// output: y = int32[256]
// output: state = int32[16]
// output: part = int32[8]
// grid: 256
// threadgroup: 32
// init: 0
uint g = threadgroup_position_in_grid.x, l = thread_index_in_threadgroup;
int v = x[g * 32 + l];
int inclusive = simd_prefix_inclusive_sum(v);
device atomic_int* flag = (device atomic_int*)state;
int before = 0;
if (l == 31) {
  if (g > 0) {
    while (atomic_load_explicit(&flag[g - 1], memory_order_relaxed) == 0) {}
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
    before = part[g - 1];
  }
  part[g] = before + inclusive;
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
  atomic_store_explicit(&flag[g], 1, memory_order_relaxed);
}
before = simd_broadcast(before, 31);
y[g * 32 + l] = before + inclusive;
