// Logic of boolean vectors: && and || without short circuits, !, ==, ^, and their size in memory.
// input: a = bool[12, 4] random
// input: b = bool[12, 4] random
// output: y = bool[12, 20]
// output: n = int32[3]
// grid: 12
// threadgroup: 12
// expect: y = np.concatenate([a & b, a | b, ~a, a == b, a ^ b], axis=1)
// expect: n = [2, 4, 4]
uint i = thread_position_in_grid.x;
bool4 u = ((const device bool4*)a)[i], v = ((const device bool4*)b)[i];
device bool4* row = (device bool4*)y + 5 * i;
row[0] = u && v;
row[1] = u || v;
row[2] = !u;
row[3] = u == v;
row[4] = u ^ v;
if (i == 0) n[0] = sizeof(bool2), n[1] = sizeof(bool3), n[2] = sizeof(bool4);
