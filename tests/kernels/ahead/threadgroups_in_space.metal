// Threadgroups that follow each other in x, y and z.
// input: table = float32[500, 32] normal
// input: index = int32[24, 20, 3, 32] integers(0, 499)
// output: out = float32[24, 20, 96, 32]
// grid: 96 640 24
// threadgroup: 32 32 1
// where: which = index.transpose(0, 1, 3, 2)[:, :, :, :, None]
// where: want = table[which, np.arange(32)].reshape(24, 640, 96)
// expect: out = want.reshape(24, 20, 96, 32)
uint3 at = thread_position_in_grid;
uint part = at.x / 32, lane = at.x % 32;
int from = index[((at.z * 20 + at.y / 32) * 3 + part) * 32 + at.y % 32];
out[(at.z * 640 + at.y) * 96 + at.x] = table[from * 32 + lane];
