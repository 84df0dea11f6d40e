// Places in threadgroup memory that nobody has written are used as indices.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
threadgroup uint order[64];
if (i < 63) order[i] = 62 - i;
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = x[order[i]];  // finds: undefined-address
