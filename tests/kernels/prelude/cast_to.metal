// cast_to is a static_cast, but what is not exactly zero is true, subnormal or not.
// input: x = uint32[6] [0, 0x80000000, 1, 0x3f800000, 0x7fc00000, 0x80000100]
// output: y = bool[6, 3]
// output: z = int32[2]
// grid: 6
// where:
//     some = (x & 0x7fffffff) != 0
//     high = (x >> 16 & 0x7fff) != 0
// expect: y = np.stack([some, high, some], axis=1)
// expect: z = [-3, 200]
uint i = thread_position_in_grid.x;
float f = as_type<float>(x[i]);
y[3 * i] = cast_to<bool>(f);
y[3 * i + 1] = cast_to<bool>(as_type<bfloat16_t>(ushort(x[i] >> 16)));
y[3 * i + 2] = cast_to<bool>(complex64_t(0.0f, f));
if (i == 0) z[0] = cast_to<int>(-3.7f), z[1] = cast_to<int>(cast_to<uint8_t>(200.9f));
