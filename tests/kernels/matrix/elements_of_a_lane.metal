// Which two elements a lane holds: kernels rely on what Apple's GPUs do.
// input: x = float32[8,8] arange
// output: y = float32[32,2]
// grid: 32
// threadgroup: 32
// where: q = lane // 4; row = (q & 4) + lane // 2 % 4; column = (q & 2) * 2 + lane % 2 * 2
// expect: y = np.stack([8 * row + column, 8 * row + column + 1], 1)
simdgroup_float8x8 m;
simdgroup_load(m, x);
uint lane = thread_index_in_simdgroup;
y[2 * lane] = m.thread_elements()[0];
y[2 * lane + 1] = m.thread_elements()[1];
