// size_t and ptrdiff_t: differences of pointers, negative offsets, 64-bit products.
// input: x = int32[64] random
// output: y = int32[64]
// output: z = int64[64]
// grid: 64
// threadgroup: 32
// expect: y = x[::-1]
// expect: z = np.arange(64, dtype=np.int64) * 2**32 + 63 - 2 * np.arange(64)
uint t = thread_position_in_grid.x;
const device int* last = x + (threads_per_grid.x - 1);
ptrdiff_t back = -ptrdiff_t(t);
size_t big = size_t(t) << 32;
y[t] = last[back];
z[t] = long(big) + ((last + back) - (x + t));
