// A typing error, and what was meant.
// output: y = float32[4]
// grid: 4
// error: 'threadgroup_barier'; did you mean 'threadgroup_barrier'\? at 5:1
threadgroup_barier(mem_flags::mem_threadgroup);
