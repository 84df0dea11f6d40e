// Threads that have returned count as arrived.
// input: x = int32[100] random
// input: n = int32 70
// output: y = int32[128]
// grid: 128
// threadgroup: 64
// init: 0
// where:
//     first = np.resize(x[:64][::-1], 64)
//     second = np.where(np.arange(64) < 6, np.resize(x[64:70][::-1], 64), 0)
// expect: y = np.concatenate([first, second])
threadgroup int slots[64];
int i = thread_position_in_grid.x;
uint lid = thread_position_in_threadgroup.x;
if (i >= n) return;
slots[lid] = x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
uint live = min(64, n - int(threadgroup_position_in_grid.x) * 64);
y[i] = slots[live - 1 - lid];
