// Of a product only one element of each lane, and one lane's element, chosen at run time, for all.
// input: a = float32[8,8] integers(-9, 10)
// input: b = float32[8,8] integers(-9, 10)
// input: which = int32[4] integers(0, 31)
// output: second = float32[32]
// output: chosen = float32[4,32]
// grid: 32
// threadgroup: 32
// where: product = a @ b; lanes = np.arange(32)
// where: rows = (lanes >> 2 & 4) | (lanes >> 1 & 3); columns = (lanes >> 1 & 4) | (lanes << 1 & 2)
// where: mine = product[rows, columns + 1]
// expect: second = mine
// expect: chosen = np.repeat(mine[which], 32)
simdgroup_float8x8 p, q, r;
simdgroup_load(p, a);
simdgroup_load(q, b);
simdgroup_multiply(r, p, q);
float mine = r.thread_elements()[1];
second[thread_index_in_simdgroup] = mine;
for (int i = 0; i < which_shape[0]; i++) {
  chosen[32 * i + thread_index_in_simdgroup] = simd_shuffle(mine, ushort(which[i]));
}
