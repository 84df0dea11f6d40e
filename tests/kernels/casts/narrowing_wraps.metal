// Integer conversions keep the low bits; char is signed.
// input: x = int32[100] random
// output: c = int32[100]
// output: uc = int32[100]
// output: s = int32[100]
// output: u = int64[100]
// output: flag = int32[100]
// grid: 100
// threadgroup: 32
// expect: c = x.astype(np.int8)
// expect: uc = x.astype(np.uint8)
// expect: s = x.astype(np.int16)
// expect: u = x.astype(np.uint32)
// expect: flag = x % 4 != 0
uint t = thread_position_in_grid.x;
c[t] = char(x[t]);
uc[t] = uchar(x[t]);
s[t] = short(x[t]);
u[t] = uint(x[t]);
flag[t] = bool(x[t] & 3);
