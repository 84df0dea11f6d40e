// Narrow integers saturate at their own limits.
// input: x = float32[12] [0.9, -0.9, 1e10, -1e10, np.nan, np.inf, 300, -300, 70000, -70000, 127.9, -128.9]
// output: c = int8[12]
// output: uc = uint8[12]
// output: s = int16[12]
// output: us = uint16[12]
// grid: 12
// threadgroup: 32
// where:
//     def cast(low, high):
//         return np.array([0 if v != v else int(min(max(v, low), high)) for v in x.tolist()])
// expect: c = cast(-128, 127)
// expect: uc = cast(0, 255)
// expect: s = cast(-2**15, 2**15 - 1)
// expect: us = cast(0, 2**16 - 1)
uint t = thread_position_in_grid.x;
c[t] = char(x[t]);
uc[t] = uchar(x[t]);
s[t] = short(x[t]);
us[t] = ushort(x[t]);
