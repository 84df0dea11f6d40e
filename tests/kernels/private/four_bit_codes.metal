// Packs eight values of four bits, rounds them, and unpacks them again.
// input: x = float32[256] uniform(-1, 1)
// output: y = uint32[32]
// output: z = float32[256]
// grid: 32
// where:
//     r = x.reshape(32, 8)
//     low, high = r.min(1, keepdims=True), r.max(1, keepdims=True)
//     step = ((high - low) / np.float32(15)).astype(np.float32)
//     q = np.clip(np.rint((r - low) / step), 0, 15)
// expect: y = (q.astype(np.uint32) << (4 * np.arange(8, dtype=np.uint32))).sum(1).astype(np.uint32)
// expect: z = q * step + low
// close: 1e-5
uint t = thread_position_in_grid.x;
float v[8], low = INFINITY, high = -INFINITY;
for (int i = 0; i < 8; i++) {
  v[i] = x[8 * t + i];
  low = min(low, v[i]);
  high = max(high, v[i]);
}
const float step = (high - low) / 15.0f;
uint word = 0;
#pragma unroll
for (int i = 0; i < 8; i++) {
  word |= uint(clamp(rint((v[i] - low) / step), 0.0f, 15.0f)) << (4 * i);
}
y[t] = word;
for (int i = 0; i < 8; i++, word >>= 4) z[8 * t + i] = (word & 15) * step + low;
