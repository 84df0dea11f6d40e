// half2, half3, half4 and their packed relatives: construction, components, swizzles, arithmetic, memory.
// input: x = float16[4, 9] integers(0, 20)
// output: y = float16[4, 9]
// output: z = float16[4, 9]
// grid: 4
// threadgroup: 4
// expect: y = np.concatenate([x[:, [3, 2, 1, 0]], x[:, 4:7] + x[:, :1], x[:, 7:] * 2], axis=1)
// expect: z = np.concatenate([x[:, :2], x[:, 4:7], x[:, [8, 8, 7, 7]]], axis=1)
uint i = 9 * thread_position_in_grid.x;
half4 a(half2(x[i], x[i + 1]), x[i + 2], x[i + 3]);
packed_half3 b = *(const device packed_half3*)(x + i + 4);
half2 q;
q.x = x[i + 7];
q[1] = x[i + 8];
*(device packed_half4*)(y + i) = a.wzyx;
*(device packed_half3*)(y + i + 4) = b + half3(a.x);
*(device packed_half2*)(y + i + 7) = q * half2(2);
*(device packed_half2*)(z + i) = a.rg;
*(device packed_half3*)(z + i + 2) = packed_half3(b[0], b.yz);
*(device packed_half4*)(z + i + 5) = q.yyxx;
