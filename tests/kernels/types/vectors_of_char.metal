// char2, char3, char4 and their packed relatives: construction, components, swizzles, arithmetic, memory.
// input: x = int8[4, 9] integers(0, 20)
// output: y = int8[4, 9]
// output: z = int8[4, 9]
// grid: 4
// threadgroup: 4
// expect: y = np.concatenate([x[:, [3, 2, 1, 0]], x[:, 4:7] + x[:, :1], x[:, 7:] * 2], axis=1)
// expect: z = np.concatenate([x[:, :2], x[:, 4:7], x[:, [8, 8, 7, 7]]], axis=1)
uint i = 9 * thread_position_in_grid.x;
char4 a(char2(x[i], x[i + 1]), x[i + 2], x[i + 3]);
packed_char3 b = *(const device packed_char3*)(x + i + 4);
char2 q;
q.x = x[i + 7];
q[1] = x[i + 8];
*(device packed_char4*)(y + i) = a.wzyx;
*(device packed_char3*)(y + i + 4) = b + char3(a.x);
*(device packed_char2*)(y + i + 7) = q * char2(2);
*(device packed_char2*)(z + i) = a.rg;
*(device packed_char3*)(z + i + 2) = packed_char3(b[0], b.yz);
*(device packed_char4*)(z + i + 5) = q.yyxx;
