// One buffer as floats, words, vectors and bytes; offsets in each unit.
// input: x = float32[64] normal
// output: y = uint32[64]
// grid: 64
// threadgroup: 32
// where: w = x.view(np.uint32)
// expect: y = (w ^ np.roll(w.reshape(-1, 2)[:, ::-1].ravel(), 0)) + (w >> 24) + w.reshape(-1, 4)[:, [2]].repeat(4, 1).ravel()
uint t = thread_position_in_grid.x;
const device uint* words = (const device uint*)x;
const device uint2* pairs = reinterpret_cast<const device uint2*>(x) + t / 2;
const device uchar* bytes = (const device uchar*)(x + t);
const device uint* far = (const device uint*)((const device char*)x + 4 * (t & ~3u) + 8);
uint2 pair = *pairs;
y[t] = (words[t] ^ (t % 2 ? pair.x : pair.y)) + bytes[3] + *far;
