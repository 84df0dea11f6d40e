// bfloat2, bfloat3, bfloat4 and their packed relatives: construction, components, swizzles, arithmetic, memory.
// input: x = bfloat16[4, 9] integers(0, 20)
// output: y = bfloat16[4, 9]
// output: z = bfloat16[4, 9]
// grid: 4
// threadgroup: 4
// expect: y = np.concatenate([x[:, [3, 2, 1, 0]], x[:, 4:7] + x[:, :1], x[:, 7:] * 2], axis=1)
// expect: z = np.concatenate([x[:, :2], x[:, 4:7], x[:, [8, 8, 7, 7]]], axis=1)
uint i = 9 * thread_position_in_grid.x;
bfloat4 a(bfloat2(x[i], x[i + 1]), x[i + 2], x[i + 3]);
packed_bfloat3 b = *(const device packed_bfloat3*)(x + i + 4);
bfloat2 q;
q.x = x[i + 7];
q[1] = x[i + 8];
*(device packed_bfloat4*)(y + i) = a.wzyx;
*(device packed_bfloat3*)(y + i + 4) = b + bfloat3(a.x);
*(device packed_bfloat2*)(y + i + 7) = q + q;
*(device packed_bfloat2*)(z + i) = a.rg;
*(device packed_bfloat3*)(z + i + 2) = packed_bfloat3(b[0], b.yz);
*(device packed_bfloat4*)(z + i + 5) = q.yyxx;
