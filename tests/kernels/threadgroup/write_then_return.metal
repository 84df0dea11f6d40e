// Threads that return early have written their slot before, and the others read it behind the barrier.
// input: x = int32[64] random
// output: y = int32[64]
// grid: 64
// threadgroup: 64
// init: 0
// expect: y = np.where(x % 3 == 0, np.where(np.roll(x, -1) % 3 == 0, np.roll(x, -1), 1), 0)
threadgroup int slot[64];
uint i = thread_position_in_grid.x;
bool c = x[i] % 3 == 0;
int v = 1;
if (c) v = x[i] + simd_sum(0);
slot[i] = v;
if (!c) return;
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = slot[(i + 1) % 64];
