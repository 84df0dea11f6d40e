// A helper of a pasted file that keeps the bindings of its parameters.
// input: x = float32[64] integers(-9, 9)
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// expect: y = np.repeat(x.reshape(2, 32).max(1), 32)
// header:
[[max_total_threads_per_threadgroup(1024)]]
inline float largest(const device float* x [[buffer(0)]], threadgroup float* shared [[threadgroup(0)]],
                     uint l [[thread_index_in_threadgroup]], uint t [[thread_position_in_grid]]) {
  shared[l] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float best = shared[0];
  for (uint i = 1; i < 32; i++) best = max(best, shared[i]);
  return best;
}
// body:
threadgroup float cells[32];
uint t = thread_position_in_grid.x;
y[t] = largest(x, cells, thread_index_in_threadgroup, t);
