// A block out of a larger matrix, into a block of another: the origin is (column, row).
// input: x = float32[19,30] arange
// output: y = float32[20,16]
// init: -1
// grid: 32
// threadgroup: 32
// where: e = np.full((20, 16), -1.0); e[9:17, 5:13] = x[3:11, 20:28]
// expect: y = e
simdgroup_float8x8 m;
simdgroup_load(m, x, 30, ulong2(20, 3));
simdgroup_store(m, y, 16, ulong2(5, 9));
