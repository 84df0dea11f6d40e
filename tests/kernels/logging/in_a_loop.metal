// In a loop whose iterations differ from thread to thread.
// input: n = uint32[40] integers(0, 4)
// output: y = uint32[40]
// grid: 40
// threadgroup: 40
// expect: y = n * (n - 1) // 2 * (n > 0)
uint i = thread_position_in_grid.x, sum = 0;
for (uint k = 0; k < n[i]; ++k) {
  if (i == 7) os_log_default.log_debug("iteration %u, sum %u", k, sum);
  sum += k;
}
y[i] = sum;
