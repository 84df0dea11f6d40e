// Each lane copies 16 neighbours into an array of its own, picks one of them, and writes 16 others,
// of which the first is seen as bits.
// input: x = float32[600,16] normal
// input: at = int32[600] integers(0, 15)
// output: y = float32[600,16]
// grid: 600
// threadgroup: 96
// where: cut = np.where(np.arange(16) <= np.arange(600)[:, None] % 16, x, 0)
// expect: y = np.where(np.arange(16) == 0, -x, cut + np.take_along_axis(x, at[:, None], 1))
uint i = thread_position_in_grid.x;
float mine[16];
for (int k = 0; k < 16; k++) mine[k] = x[16 * i + k];
float picked = mine[at[i]];
((device uint*)y)[16 * i] = ((const device uint*)x)[16 * i] ^ 0x80000000u;
for (uint k = 1; k < 16; k++) {
  y[16 * i + k] = (k <= i % 16 ? mine[k] : 0.0f) + picked;
}
