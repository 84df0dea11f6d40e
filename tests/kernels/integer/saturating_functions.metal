// addsat, subsat, hadd, rhadd, mulhi, absdiff.
// input: a = int32[100] random
// input: b = int32[100] random
// output: y = int32[100, 5]
// output: d = uint32[100]
// output: c = int8[100]
// grid: 100
// threadgroup: 32
// where:
//     p = a.astype(np.int64)
//     q = b.astype(np.int64)
//     low = a.astype(np.int8).astype(int) + b.astype(np.int8)
// expect: y = np.stack([np.clip(p + q, -2**31, 2**31 - 1), np.clip(p - q, -2**31, 2**31 - 1), (p + q) >> 1, (p + q + 1) >> 1, (p * q) >> 32], axis=1)
// expect: d = np.abs(p - q)
// expect: c = np.clip(low, -128, 127)
uint t = thread_position_in_grid.x;
y[5 * t] = addsat(a[t], b[t]);
y[5 * t + 1] = subsat(a[t], b[t]);
y[5 * t + 2] = hadd(a[t], b[t]);
y[5 * t + 3] = rhadd(a[t], b[t]);
y[5 * t + 4] = mulhi(a[t], b[t]);
d[t] = absdiff(a[t], b[t]);
c[t] = addsat(char(a[t]), char(b[t]));
