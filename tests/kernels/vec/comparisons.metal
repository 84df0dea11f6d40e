// Comparisons give bool vectors; any, all, select.
// input: a = int32[50, 4] integers(-3, 3)
// input: b = int32[50, 4] integers(-3, 3)
// output: some = bool[50]
// output: every = bool[50]
// output: larger = int32[50, 4]
// grid: 50
// threadgroup: 32
// expect: some = (a == b).any(axis=1)
// expect: every = (a <= b + 2).all(axis=1)
// expect: larger = np.where((a > b) & (a != 0), a, b)
uint i = thread_position_in_grid.x;
int4 p = ((const device int4*)a)[i];
int4 q = ((const device int4*)b)[i];
some[i] = any(p == q);
every[i] = all(p <= q + 2);
bool4 choice = p > q && p != 0;
((device int4*)larger)[i] = select(q, p, choice);
