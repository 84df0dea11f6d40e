// All are written.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
threadgroup uint order[64];
order[i] = 63 - i;
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = x[order[i]];
