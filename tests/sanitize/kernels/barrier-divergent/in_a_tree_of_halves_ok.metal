// The barrier is for all.
// input: x = float32[64] normal
// output: y = float32[1]
// grid: 64
// threadgroup: 64
threadgroup float shared[64];
uint l = thread_position_in_threadgroup.x;
shared[l] = x[l];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint half_ = 32; half_ > 0; half_ /= 2) {
  if (l < half_) shared[l] += shared[l + half_];
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
if (l == 0) y[0] = shared[0];
