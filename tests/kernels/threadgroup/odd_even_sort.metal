// A barrier in a loop: neighbours compare and swap until the group is sorted.
// input: x = int32[100] integers
// output: y = int32[100]
// grid: 100
// threadgroup: 100
// expect: y = np.sort(x)
threadgroup int v[100];
uint i = thread_position_in_threadgroup.x;
uint n = threads_per_threadgroup.x;
v[i] = x[i];
for (uint iteration = 0; iteration < n; iteration++) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i % 2 == iteration % 2 && i + 1 < n && v[i] > v[i + 1]) {
    int t = v[i];
    v[i] = v[i + 1];
    v[i + 1] = t;
  }
}
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = v[i];
