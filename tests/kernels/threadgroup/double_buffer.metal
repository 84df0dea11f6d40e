// Two halves of an array take turns, by index and by pointers that are swapped.
// input: x = int32[64] integers(0, 99)
// output: y = int32[64]
// grid: 64
// threadgroup: 64
// where:
//     z = x.astype(int)
//     for k in range(6): z = z + np.roll(z, k)
// expect: y = z
threadgroup int halves[2][64];
const uint t = thread_position_in_grid.x;
threadgroup int* from = halves[0];
threadgroup int* to = halves[1];
from[t] = x[t];
for (uint k = 0; k < 6; k++) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  to[t] = from[t] + from[(t + 64 - k) % 64];
  threadgroup int* old = from;
  from = to;
  to = old;
}
y[t] = from[t];
