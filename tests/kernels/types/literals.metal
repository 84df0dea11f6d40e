// Suffixes f, h, bf, u, l, ul; hexadecimal, binary and separated numbers.
// output: y = float32[5]
// output: z = uint64[6]
// grid: 1
// expect: y = [1.5, 0.5, 3.25, 0.00390625, 100]
// expect: z = np.array([4294967295, 255, 5, 2**40, 1000000, 2**63], np.uint64)
y[0] = 1.5f, y[1] = 0.5h, y[2] = 3.25bf, y[3] = 0x1p-8f, y[4] = 1e2;
z[0] = 0xffffffffu, z[1] = 0xff, z[2] = 0b101, z[3] = 1l << 40, z[4] = 1'000'000, z[5] = 1ul << 63;
static_assert(is_same_v<decltype(0.5h), half> && is_same_v<decltype(3.25bf), bfloat>);
static_assert(is_same_v<decltype(1u), uint> && is_same_v<decltype(1l), long> && is_same_v<decltype(1.5), float>);
