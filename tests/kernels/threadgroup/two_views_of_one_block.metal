// The same memory as bytes, words and vectors, between barriers.
// input: x = uint32[64] random
// output: y = uint32[64]
// grid: 64
// threadgroup: 64
// where: b = np.ascontiguousarray(x).view(np.uint8)
// expect: y = b[::-1].reshape(64, 4).astype(np.uint32) @ np.array([1, 2, 3, 4], np.uint32)
threadgroup uint4 block[16];
threadgroup uint* words = (threadgroup uint*)block;
threadgroup uchar* bytes = reinterpret_cast<threadgroup uchar*>(words);
const uint t = thread_position_in_grid.x;
words[t] = x[t];
threadgroup_barrier(mem_flags::mem_threadgroup);
uint sum = 0;
for (uint i = 0; i < 4; i++) sum += bytes[255 - (4 * t + i)] * (i + 1);
y[t] = sum;
