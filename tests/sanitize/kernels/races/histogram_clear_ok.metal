// One thread clears the bins while others count already.
// input: x = uint32[64] integers(0, 7)
// output: y = uint32[8]
// grid: 64
// threadgroup: 64
threadgroup atomic_uint bins[8];
uint l = thread_index_in_threadgroup;
if (l == 0) {
  for (uint k = 0; k < 8; ++k) {
    *(threadgroup uint*)&bins[k] = 0;
  }
}
threadgroup_barrier(mem_flags::mem_threadgroup);
atomic_fetch_add_explicit(&bins[x[l]], 1u, memory_order_relaxed);
threadgroup_barrier(mem_flags::mem_threadgroup);
if (l < 8) {
  y[l] = *(threadgroup uint*)&bins[l];
}
