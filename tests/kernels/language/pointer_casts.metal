// Bytes of a word, words of a vector, C-style and reinterpret_cast.
// input: x = uint32[64] random
// output: y = uint32[64]
// grid: 64
// threadgroup: 32
// expect: y = ((x & 255) << 8) + ((x >> 24) & 255) + (x.reshape(16, 4)[:, ::-1].reshape(-1) >> 16)
uint t = thread_position_in_grid.x;
const device uchar* bytes = (const device uchar*)x;
const device uint4* fours = reinterpret_cast<const device uint4*>(x);
const device ushort* halves = (device ushort*)(x + (t ^ 3));
device uint* out = (device uint*)((device char*)y + 4 * t);
uint4 four = fours[t / 4];
thread const uint* words = (thread const uint*)&four;
uint same = words[t % 4];
*out = (uint(bytes[4 * t]) << 8) + bytes[4 * t + 3] + halves[1] + (same - x[t]);
