// What another threadgroup-mate has written in front of the barrier.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
if (i % 2 == 0) y[i] = x[i];
threadgroup_barrier(mem_flags::mem_device);
if (i % 2 == 1) y[i] = x[i] - y[i - 1];
