// ulong2, ulong3, ulong4 and their packed relatives: construction, components, swizzles, arithmetic, memory.
// input: x = uint64[4, 9] integers(0, 20)
// output: y = uint64[4, 9]
// output: z = uint64[4, 9]
// grid: 4
// threadgroup: 4
// expect: y = np.concatenate([x[:, [3, 2, 1, 0]], x[:, 4:7] + x[:, :1], x[:, 7:] * 2], axis=1)
// expect: z = np.concatenate([x[:, :2], x[:, 4:7], x[:, [8, 8, 7, 7]]], axis=1)
uint i = 9 * thread_position_in_grid.x;
ulong4 a(ulong2(x[i], x[i + 1]), x[i + 2], x[i + 3]);
packed_ulong3 b = *(const device packed_ulong3*)(x + i + 4);
ulong2 q;
q.x = x[i + 7];
q[1] = x[i + 8];
*(device packed_ulong4*)(y + i) = a.wzyx;
*(device packed_ulong3*)(y + i + 4) = b + ulong3(a.x);
*(device packed_ulong2*)(y + i + 7) = q * ulong2(2);
*(device packed_ulong2*)(z + i) = a.rg;
*(device packed_ulong3*)(z + i + 2) = packed_ulong3(b[0], b.yz);
*(device packed_ulong4*)(z + i + 5) = q.yyxx;
