// An unknown kind of memory.
// output: y = int32[4]
// grid: 4
// error: 'mem_treadgroup'[^\0]*did you mean 'mem_threadgroup' at 5:32
threadgroup_barrier(mem_flags::mem_treadgroup);
