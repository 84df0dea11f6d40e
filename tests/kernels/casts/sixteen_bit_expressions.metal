// half, bfloat and float beside each other: where each operation rounds.
// input: h = float16[64] uniform(1, 2)
// input: b = bfloat16[64] uniform(1, 2)
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// where:
//     h16 = lambda v: np.asarray(v, np.float32).astype(np.float16).astype(np.float32)
//     def b16(v):
//         w = np.asarray(v, np.float32).view(np.uint32).astype(np.uint64)
//         return ((w + 0x7FFF + ((w >> 16) & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)
// expect: y = h16(h16(h * h) + h16(3)) + b16(b16(b * b) - b) + (h * np.float32(0.1)).astype(np.float32)
// close: 1e-6
#pragma METAL fp contract(off)
uint t = thread_position_in_grid.x;
half first = h[t] * h[t] + 3;
bfloat second = b[t] * b[t] - b[t];
float third = h[t] * 0.1f;
y[t] = first + float(second) + third;
