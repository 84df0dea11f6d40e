// A lane that is elsewhere reads as 0; Metal leaves it open.
// input: x = int32[32] integers(1, 100)
// output: y = int32[32]
// grid: 32
// threadgroup: 32
// init: -1
// expect: y = np.where(np.arange(32) % 4 == 0, -1, np.where((np.arange(32) ^ 1) % 4 == 0, 0, x[np.arange(32) ^ 1]))
uint i = thread_position_in_grid.x;
if (i % 4 != 0) y[i] = simd_shuffle(x[i], ushort(i ^ 1));
