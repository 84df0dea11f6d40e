// Sums and products round to nearest, ties to even: at the edge of the 24 and 11 bits.
// output: y = float32[4]
// output: z = float16[4]
// input: one = float32[1] [1]
// grid: 1
// expect: y = [2**24, 2**24 + 4, 1, 1 + 3 * 2.0**-23]
// expect: z = [2048, 2052, 1, 1 + 3 * 2.0**-10]
float f = 16777216.0f * one[0], e = 0x1p-24f * one[0];
half h = 2048.0h * half(one[0]), g = 0x1p-11f * one[0];
y[0] = f + 1.0f, y[1] = f + 3.0f, y[2] = one[0] + e, y[3] = one[0] + 3 * (e + e);
z[0] = h + 1.0h, z[1] = h + 3.0h, z[2] = half(one[0]) + g, z[3] = half(one[0]) + 3.0h * (g + g);
