// Elements of vectors at indices that only the run knows, read and written.
// input: x = int32[40] integers(0, 3)
// output: y = int32[160]
// grid: 40
// threadgroup: 32
// where:
//     v = np.tile([10, 20, 30, 40], (40, 1))
//     v[np.arange(40), x] += 5
//     v[np.arange(40), 3 - x] = v[np.arange(40), x] * 2
// expect: y = v
uint t = thread_position_in_grid.x;
int4 v = int4(10, 20, 30, 40);
v[x[t]] += 5;
v[3 - x[t]] = v[x[t]] * 2;
((device int4*)y)[t] = v;
