// Threadgroup variables belong to the kernel function.
// output: y = float32[4]
// grid: 4
// error: header:7:3: error: 'slots': variables in the threadgroup address space can only at 7:3
// header:
float shared_sum(uint l, float v) {
  threadgroup float slots[32];
  slots[l] = v;
  return slots[0];
}
// body:
y[thread_position_in_grid.x] = shared_sum(thread_index_in_threadgroup, 1);
