// A barrier in a branch that all threads of a threadgroup take together, or none.
// input: x = int32[160] integers(-9, 9)
// output: y = int32[160]
// grid: 160
// threadgroup: 40
// expect: y = np.where(group % 2 == 0, x.reshape(4, 40)[:, ::-1].ravel(), x)
threadgroup int cells[40];
const uint l = thread_index_in_threadgroup, t = thread_position_in_grid.x;
cells[l] = x[t];
if (threadgroup_position_in_grid.x % 2 == 0) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = cells[39 - l];
} else {
  y[t] = cells[l];
}
