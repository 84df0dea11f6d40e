// One case of a switch has a barrier.
// input: x = int32[64] arange
// output: y = int32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
int v = x[i];
switch (v % 3) {
  case 0: v *= 7; break;
  case 1:
    v += 5;
    threadgroup_barrier(mem_flags::mem_threadgroup);  // finds: barrier-divergent
    break;
  default: v = -v;
}
y[i] = v;
