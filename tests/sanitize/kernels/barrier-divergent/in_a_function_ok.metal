// It is called by all.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// header:
inline float exchange(threadgroup float* shared, float value, uint l) {
  shared[l] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return shared[l ^ 1];
}
// body:
threadgroup float shared[64];
uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;
float v = exchange(shared, x[i], l);
if (v > 0) v = -v;
y[i] = v;
