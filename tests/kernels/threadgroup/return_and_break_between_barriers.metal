// A uniform loop with barriers that whole groups break out of, and that some threads return from.
// input: stop = bool[16] [False] * 5 + [True] * 3 + [False] * 8
// output: y = int32[72]
// grid: 24 3
// threadgroup: 4 3
// init: -1
// where:
//     def rounds(g):
//         return 2 if g % 2 == 0 else 1
// expect: y = [-1 if l == 5 else sum((l + 1 + k) % 12 for k in range(rounds(g))) for l, g in zip(lid, group)]
threadgroup int slots[12];
uint t = thread_position_in_grid.x + 24 * thread_position_in_grid.y;
uint lid = thread_index_in_threadgroup;
int sum = 0;
slots[lid] = lid;
threadgroup_barrier(mem_flags::mem_threadgroup);
for (int iteration = 0; iteration < 8; iteration++) {
  sum += slots[(lid + 1 + iteration) % 12];
  if (lid == 5) return;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (stop[iteration + 4 + (threadgroup_position_in_grid.x % 2)]) break;
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
y[t] = sum;
