// A volatile variable is no atomic.
// output: y = int32[64]
// grid: 64
// threadgroup: 64
threadgroup volatile int done;
uint l = thread_index_in_threadgroup;
if (l == 32) {
  done = 7;
}
threadgroup_barrier(mem_flags::mem_threadgroup);
int seen = done;
y[l] = seen > 0 ? 1 : 0;
