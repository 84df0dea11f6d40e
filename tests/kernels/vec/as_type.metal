// The same bits under another type.
// input: x = uint32[45] random
// output: bytes = uint8[45, 4]
// output: halves = uint16[45, 2]
// output: round_trip = uint32[45]
// output: long_low = uint32[45]
// grid: 45
// threadgroup: 32
// expect: bytes = x.view(np.uint8)
// expect: halves = x.view(np.uint16)
// expect: round_trip = x
// expect: long_low = x + 1
uint i = thread_position_in_grid.x;
uchar4 b = as_type<uchar4>(x[i]);
for (int c = 0; c < 4; c++) bytes[4 * i + c] = b[c];
ushort2 h = as_type<ushort2>(x[i]);
halves[2 * i] = h.x;
halves[2 * i + 1] = h.y;
round_trip[i] = as_type<uint>(as_type<float>(x[i]));
ulong joined = as_type<ulong>(uint2(x[i] + 1, 77));
long_low[i] = uint(joined);
