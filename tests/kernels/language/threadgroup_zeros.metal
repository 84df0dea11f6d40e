// Zeros for an array of threadgroup memory: Metal takes them, and they have no effect.
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// expect: y = np.arange(64)[::-1]
threadgroup float slots[64] = {0};
threadgroup int more[2][32] = {};
uint i = thread_position_in_threadgroup.x;
slots[i] = i;
more[i / 32][i % 32] = i;
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = (slots[63 - i] + more[1 - i / 32][31 - i % 32]) / 2;
