// ushort2, ushort3, ushort4 and their packed relatives: construction, components, swizzles, arithmetic, memory.
// input: x = uint16[4, 9] integers(0, 20)
// output: y = uint16[4, 9]
// output: z = uint16[4, 9]
// grid: 4
// threadgroup: 4
// expect: y = np.concatenate([x[:, [3, 2, 1, 0]], x[:, 4:7] + x[:, :1], x[:, 7:] * 2], axis=1)
// expect: z = np.concatenate([x[:, :2], x[:, 4:7], x[:, [8, 8, 7, 7]]], axis=1)
uint i = 9 * thread_position_in_grid.x;
ushort4 a(ushort2(x[i], x[i + 1]), x[i + 2], x[i + 3]);
packed_ushort3 b = *(const device packed_ushort3*)(x + i + 4);
ushort2 q;
q.x = x[i + 7];
q[1] = x[i + 8];
*(device packed_ushort4*)(y + i) = a.wzyx;
*(device packed_ushort3*)(y + i + 4) = b + ushort3(a.x);
*(device packed_ushort2*)(y + i + 7) = q * ushort2(2);
*(device packed_ushort2*)(z + i) = a.rg;
*(device packed_ushort3*)(z + i + 2) = packed_ushort3(b[0], b.yz);
*(device packed_ushort4*)(z + i + 5) = q.yyxx;
