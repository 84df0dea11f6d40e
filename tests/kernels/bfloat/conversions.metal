// float to bfloat rounds to nearest even; the bits by MLX's functions; bfloat to float is exact.
// input: x = uint32[12] [0x3f800000, 0x3f808000, 0x3f818000, 0x3f808001, 0x7f7fffff, 0x7f800000, 0xff800000, 0x42f6e979, 0xc2f6e979, 0x3f7fffff, 0x80000000, 0x3f817fff]
// output: y = uint16[12]
// output: z = float32[12]
// grid: 12
// where:
//     low, high = x & 0xffff, x >> 16
//     bits = (high + ((low > 0x8000) | ((low == 0x8000) & (high % 2 == 1)))).astype(np.uint16)
// expect: y = bits
// expect: z = (bits.astype(np.uint32) << 16).view(np.float32)
uint i = thread_position_in_grid.x;
bfloat16_t b = bfloat16_t(as_type<float>(x[i]));
y[i] = bfloat16_to_uint16(b);
z[i] = float(uint16_to_bfloat16(y[i]));
