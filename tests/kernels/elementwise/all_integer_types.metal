// Every integer type: a negation wraps to the type's width.
// input: a = int8[40] random
// input: b = uint8[40] random
// input: c = int16[40] random
// input: d = uint16[40] random
// input: e = int32[40] random
// input: f = uint32[40] random
// input: g = int64[40] random
// input: h = uint64[40] random
// output: na = int8[40]
// output: nb = uint8[40]
// output: nc = int16[40]
// output: nd = uint16[40]
// output: ne = int32[40]
// output: nf = uint32[40]
// output: ng = int64[40]
// output: nh = uint64[40]
// grid: 40
// threadgroup: 40
// expect: na = 0 - a.astype(np.int64)
// expect: nb = 0 - b.astype(np.int64)
// expect: nc = 0 - c.astype(np.int64)
// expect: nd = 0 - d.astype(np.int64)
// expect: ne = 0 - e.astype(np.int64)
// expect: nf = 0 - f.astype(np.int64)
// expect: ng = 0 - g
// expect: nh = 0 - h
uint i = thread_position_in_grid.x;
na[i] = -a[i];
nb[i] = -b[i];
nc[i] = -c[i];
nd[i] = -d[i];
ne[i] = -e[i];
nf[i] = -f[i];
ng[i] = -g[i];
nh[i] = -h[i];
