// All lanes come to it.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v = x[i];
if (thread_index_in_simdgroup >= 16) v = -v;
simdgroup_barrier(mem_flags::mem_threadgroup);
y[i] = v;
