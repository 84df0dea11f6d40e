// bfloat arithmetic: each result is a float rounded to 8 bits.
// input: a = bfloat16[200] normal
// input: b = bfloat16[200] normal
// input: c = bfloat16[200] normal
// output: y = bfloat16[200]
// grid: 200
// threadgroup: 64
// where:
//     def rounded(v):
//         bits = v.astype(np.float32).view(np.uint32)
//         return ((bits + 0x7fff + ((bits >> 16) & 1)) & np.uint32(0xffff0000)).view(np.float32)
// expect: y = rounded(rounded(a * b) + c)
uint t = thread_position_in_grid.x;
bfloat product = a[t] * b[t];
y[t] = product + c[t];
