// A component chosen at run time, read and written.
// input: x = int32[60, 4] random
// input: k = int32[60] integers(0, 3)
// output: y = int32[60]
// output: z = int32[60, 4]
// grid: 60
// threadgroup: 32
// where:
//     changed = x.copy()
//     changed[np.arange(60), (k + 1) % 4] = 7
// expect: y = x[np.arange(60), k]
// expect: z = changed
uint i = thread_position_in_grid.x;
int4 v = int4(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]);
y[i] = v[k[i]];
v[(k[i] + 1) % 4] = 7;
for (int c = 0; c < 4; c++) z[4 * i + c] = v[c];
