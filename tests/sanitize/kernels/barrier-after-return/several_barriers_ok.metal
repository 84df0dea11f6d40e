// Nobody returns before the last one; a function's own return is none of the thread.
// input: x = float32[40] normal
// output: y = float32[40]
// grid: 64
// threadgroup: 64
// header:
inline void put(threadgroup float* shared, const device float* x, uint i) {
  shared[i] = 0;
  if (i >= 40) return;
  shared[i] = x[i];
}
// body:
threadgroup float shared[64];
uint i = thread_position_in_grid.x;
put(shared, x, i);
threadgroup_barrier(mem_flags::mem_threadgroup);
float v = i < 40 ? shared[39 - i] : 0;
threadgroup_barrier(mem_flags::mem_threadgroup);
shared[i] = v;
threadgroup_barrier(mem_flags::mem_threadgroup);
if (i < 40) y[i] = shared[i ^ 1];
