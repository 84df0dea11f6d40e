// 32 KiB exactly.
// output: y = int32[256]
// grid: 256
// threadgroup: 256
// expect: y = [sum((i * 32 + k) * 3 for k in range(32)) for i in range(256)]
threadgroup int slots[8192];
uint lid = thread_position_in_threadgroup.x;
for (uint k = lid; k < 8192; k += 256) slots[k] = k * 3;
threadgroup_barrier(mem_flags::mem_threadgroup);
int sum = 0;
for (uint k = 0; k < 32; k++) sum += slots[lid * 32 + k];
y[lid] = sum;
