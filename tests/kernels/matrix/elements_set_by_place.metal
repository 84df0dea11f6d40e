// A matrix that each lane fills in by itself.
// output: y = float32[8,8]
// grid: 32
// threadgroup: 32
// expect: y = np.arange(64).reshape(8, 8)
uint lane = thread_index_in_simdgroup, quad = lane / 4;
uint row = (quad & 4) + lane / 2 % 4, column = (quad & 2) * 2 + lane % 2 * 2;
simdgroup_float8x8 m;
m.thread_elements()[0] = row * 8 + column;
m.thread_elements()[1] = row * 8 + column + 1;
simdgroup_store(m, y);
