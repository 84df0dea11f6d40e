// Before and behind a barrier, with values that other threads wrote.
// input: x = int32[64] integers(0, 100)
// output: y = int32[64]
// grid: 64
// threadgroup: 64
// expect: y = x[::-1]
threadgroup int shared[64];
uint i = thread_index_in_threadgroup;
if (i == 5) os_log_default.log_info("before: %d", x[i]);
shared[i] = x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = shared[63 - i];
if (i % 40 == 0) os_log_default.log("behind: %d", y[i]);
