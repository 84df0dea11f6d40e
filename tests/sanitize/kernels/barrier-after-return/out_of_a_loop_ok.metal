// They break instead.
// input: x = int32[64] arange
// output: y = int32[64]
// init: 0
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
int found = -1;
for (int k = 0; k < 8; ++k) {
  int v[4] = {k, k + 1, k + 2, k + 3};
  if (v[x[i] & 3] == 10) break;
  found += v[k & 3];
}
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = found;
