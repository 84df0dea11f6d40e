// Large integers round to nearest even.
// input: i = int32[200] random
// input: u = uint32[200] random
// input: l = int64[200] random
// input: ul = uint64[200] random
// output: a = float32[200]
// output: b = float32[200]
// output: c = float32[200]
// output: d = float32[200]
// grid: 200
// threadgroup: 64
// expect: a = i.astype(np.float32)
// expect: b = u.astype(np.float32)
// expect: c = l.astype(np.float32)
// expect: d = ul.astype(np.float32)
uint t = thread_position_in_grid.x;
a[t] = i[t];
b[t] = float(u[t]);
c[t] = static_cast<float>(l[t]);
d[t] = (float)ul[t];
