// The first barrier behind the return is told of, and the others follow from it.
// input: x = float32[40] normal
// output: y = float32[40]
// grid: 64
// threadgroup: 64
threadgroup float shared[64];
uint i = thread_position_in_grid.x;
if (i >= 40) return;
shared[i] = x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);  // finds: barrier-after-return
float v = shared[39 - i];
threadgroup_barrier(mem_flags::mem_threadgroup);
shared[i] = v;
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = shared[i ^ 1];
