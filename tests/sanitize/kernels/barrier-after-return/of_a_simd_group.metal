// The same at a barrier of the SIMD-group.
// input: x = float32[20] normal
// output: y = float32[20]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
if (i >= 20) return;
y[i] = x[i];
simdgroup_barrier(mem_flags::mem_device);  // finds: barrier-after-return
