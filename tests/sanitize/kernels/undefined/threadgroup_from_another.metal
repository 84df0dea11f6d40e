// The first threadgroup sets it, and the second expects to find it.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 32
uint i = thread_position_in_grid.x;
threadgroup float scale;
if (i == 0) scale = x[0];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = scale * x[i];  // finds: undefined-output
