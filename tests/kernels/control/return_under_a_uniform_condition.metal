// Some lanes return where a condition is the same for all, so what joins behind it is not.
// input: x = uint32[128] random
// output: y = uint32[128]
// grid: 64 2
// threadgroup: 64 2
// expect: y = np.where(np.arange(128) < 125, x[(124 - np.arange(128)) % 128], 7)
uint t = thread_index_in_threadgroup;
uint n = threads_per_threadgroup.x * threads_per_threadgroup.y;
y[t] = 7;
if (n > 8) {
  n -= 3;
  if (t >= n) return;
}
y[t] = x[n - 1 - t];
