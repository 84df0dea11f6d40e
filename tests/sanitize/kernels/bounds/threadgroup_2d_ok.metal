// A tile without the column for the halo.
// input: x = float32[16, 16]
// output: y = float32[16, 16]
// grid: 16 16
// threadgroup: 16 16
uint2 l = thread_position_in_threadgroup.xy;
threadgroup float tile[16][16];
tile[l.y][l.x] = x[l.y * 16 + l.x];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[l.y * 16 + l.x] = tile[min(l.y + 1, 15u)][l.x];
