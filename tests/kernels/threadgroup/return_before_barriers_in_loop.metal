// Threads past the end return; the others go on through a loop of barriers.
// input: x = int32[100] integers(-9, 9)
// input: n = int32 90
// output: y = int32[100]
// grid: 100
// threadgroup: 50
// init: 7
// where:
//     z = x.astype(int).copy()
//     sums = [np.cumsum(z[:50]), np.cumsum(z[50:90]), np.full(10, 7)]
// expect: y = np.concatenate(sums)
threadgroup int cells[50];
const uint l = thread_index_in_threadgroup, t = thread_position_in_grid.x;
if (t >= uint(n)) return;
cells[l] = x[t];
for (uint step = 1; step < 50; step *= 2) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const int v = l >= step ? cells[l - step] : 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  cells[l] += v;
}
y[t] = cells[l];
