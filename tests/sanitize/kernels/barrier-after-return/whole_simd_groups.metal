// Whole SIMD-groups return.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 128
// threadgroup: 128
threadgroup float shared[128];
uint i = thread_position_in_grid.x;
if (simdgroup_index_in_threadgroup >= 2) return;
shared[i] = x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);  // finds: barrier-after-return
y[i] = shared[i ^ 33];
