// bfloat arithmetic goes through float and flushes its subnormal numbers too.
// input: x = uint16[5] [1, 0x7f, 0x8001, 0x80, 0x100]
// output: y = uint16[5, 2]
// grid: 5
// expect: y = np.stack([x, [0, 0, 0, 0, 0x80]], axis=1)
uint i = thread_position_in_grid.x;
bfloat v = as_type<bfloat>(x[i]);
y[2 * i] = as_type<ushort>(v);
y[2 * i + 1] = as_type<ushort>(v * bfloat(0.5f)) & 0x7fff;
