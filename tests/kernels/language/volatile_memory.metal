// Volatile in every address space.
// input: x = float32[64] integers(-9, 9)
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// expect: y = x * 2 + 1
uint t = thread_position_in_grid.x;
uint l = thread_index_in_threadgroup;
volatile device float* out = y;
volatile threadgroup float slots[32];
threadgroup volatile float* p = slots;
volatile float one = 1;
p[l] = x[t];
simdgroup_barrier(mem_flags::mem_threadgroup);
out[t] = slots[l] + x[t] + one;
