// uint2, uint3, uint4 and their packed relatives: construction, components, swizzles, arithmetic, memory.
// input: x = uint32[4, 9] integers(0, 20)
// output: y = uint32[4, 9]
// output: z = uint32[4, 9]
// grid: 4
// threadgroup: 4
// expect: y = np.concatenate([x[:, [3, 2, 1, 0]], x[:, 4:7] + x[:, :1], x[:, 7:] * 2], axis=1)
// expect: z = np.concatenate([x[:, :2], x[:, 4:7], x[:, [8, 8, 7, 7]]], axis=1)
uint i = 9 * thread_position_in_grid.x;
uint4 a(uint2(x[i], x[i + 1]), x[i + 2], x[i + 3]);
packed_uint3 b = *(const device packed_uint3*)(x + i + 4);
uint2 q;
q.x = x[i + 7];
q[1] = x[i + 8];
*(device packed_uint4*)(y + i) = a.wzyx;
*(device packed_uint3*)(y + i + 4) = b + uint3(a.x);
*(device packed_uint2*)(y + i + 7) = q * uint2(2);
*(device packed_uint2*)(z + i) = a.rg;
*(device packed_uint3*)(z + i + 2) = packed_uint3(b[0], b.yz);
*(device packed_uint4*)(z + i + 5) = q.yyxx;
