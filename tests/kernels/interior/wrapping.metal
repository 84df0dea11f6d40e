// Indices that wrap inside a gang: the first and the last lane pass, those in between do not.
// input: x = float32[64] normal
// input: first = int32[3] [2147483630, -16, 0]
// output: out = float32[96]
// grid: 96
// threadgroup: 32
// where: i = (np.repeat(first.astype(np.int64), 32) + np.tile(np.arange(32), 3) + 2**31) % 2**32 - 2**31
// expect: out = np.where((i >= 0) & (i < 32), x[np.clip(i, 0, 63)], -1)
uint lane = thread_index_in_simdgroup, group = threadgroup_position_in_grid.x;
int i = int(uint(first[group]) + lane);
float value = -1;
if (i >= 0 && i < 32) value = x[i];
out[group * 32 + lane] = value;
