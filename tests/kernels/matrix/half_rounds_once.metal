// 2048 + 7 * 1 in half: ones would be lost one at a time, all together they count.
// output: y = float16[8,8]
// grid: 32
// threadgroup: 32
// expect: y = np.full((8, 8), 2056)
simdgroup_half8x8 ones = make_filled_simdgroup_matrix<half, 8>(1.0h), a = ones;
if (thread_index_in_simdgroup % 2 == 0 && (thread_index_in_simdgroup & 8) == 0)
  a.thread_elements()[0] = 2048.0h;
simdgroup_multiply(a, a, ones);
simdgroup_store(a, y);
