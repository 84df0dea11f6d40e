// 16 bits: short, half, bfloat, char2; 8 bits: char, uchar.
// input: x = uint16[50] random
// input: b = uint8[50] random
// output: y = uint16[50, 5]
// output: z = int8[50]
// grid: 50
// threadgroup: 32
// expect: y = np.repeat(x, 5)
// expect: z = b.view(np.int8)
uint i = thread_position_in_grid.x;
ushort v = x[i];
device ushort* row = y + 5 * i;
row[0] = as_type<ushort>(as_type<short>(v));
row[1] = as_type<ushort>(as_type<half>(v));
row[2] = as_type<ushort>(as_type<bfloat>(v));
row[3] = as_type<ushort>(as_type<char2>(v));
row[4] = as_type<ushort>(as_type<uchar2>(v));
z[i] = as_type<char>(b[i]);
