// Threadgroup arrays by reference and by pointer to a row.
// input: x = int32[64] random
// output: y = int32[64]
// grid: 64
// threadgroup: 32
// expect: y = x.reshape(2, 32)[:, ::-1].reshape(-1) ^ 1
// header:
template <int N>
void fill(threadgroup int (&slots)[N], uint i, int v) { slots[i] = v; }
inline int flip(threadgroup int (*rows)[16], uint i) { return rows[i / 16][i % 16] ^ 1; }
// body:
uint t = thread_position_in_grid.x;
uint l = thread_index_in_threadgroup;
threadgroup int slots[32];
fill(slots, l, x[t]);
threadgroup_barrier(mem_flags::mem_threadgroup);
threadgroup int (&alias)[32] = slots;
y[t] = flip((threadgroup int (*)[16])&alias[0], 31 - l);
