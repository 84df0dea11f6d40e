// The number of iterations is the same for all threads, which the compiler cannot know.
// input: n = int32[32] 5 + np.zeros(32)
// output: y = int32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
int sum = 0;
for (int k = 0; k < n[i]; ++k) {
  sum += k;
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
y[i] = sum;
