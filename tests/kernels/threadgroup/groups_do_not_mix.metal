// Many threadgroups reuse the same memory: none may see what another left.
// output: y = int32[640]
// grid: 640
// threadgroup: 64
// expect: y = (group + 1) * 64
threadgroup int slots[64];
uint lid = thread_position_in_threadgroup.x;
slots[lid] = int(threadgroup_position_in_grid.x) + 1;
threadgroup_barrier(mem_flags::mem_threadgroup);
int sum = 0;
for (int k = 0; k < 64; k++) sum += slots[(lid + k) % 64];
y[thread_position_in_grid.x] = sum;
