// long2, long3, long4 and their packed relatives: construction, components, swizzles, arithmetic, memory.
// input: x = int64[4, 9] integers(0, 20)
// output: y = int64[4, 9]
// output: z = int64[4, 9]
// grid: 4
// threadgroup: 4
// expect: y = np.concatenate([x[:, [3, 2, 1, 0]], x[:, 4:7] + x[:, :1], x[:, 7:] * 2], axis=1)
// expect: z = np.concatenate([x[:, :2], x[:, 4:7], x[:, [8, 8, 7, 7]]], axis=1)
uint i = 9 * thread_position_in_grid.x;
long4 a(long2(x[i], x[i + 1]), x[i + 2], x[i + 3]);
packed_long3 b = *(const device packed_long3*)(x + i + 4);
long2 q;
q.x = x[i + 7];
q[1] = x[i + 8];
*(device packed_long4*)(y + i) = a.wzyx;
*(device packed_long3*)(y + i + 4) = b + long3(a.x);
*(device packed_long2*)(y + i + 7) = q * long2(2);
*(device packed_long2*)(z + i) = a.rg;
*(device packed_long3*)(z + i + 2) = packed_long3(b[0], b.yz);
*(device packed_long4*)(z + i + 5) = q.yyxx;
