// The halo of a tile is loaded on one side only.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
threadgroup float tile[66];
tile[i + 1] = x[i];
if (i == 0) tile[0] = 0;
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = tile[i] + tile[i + 2];  // finds: undefined-output
