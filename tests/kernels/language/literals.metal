// Suffixes of half, bfloat, unsigned, long; binary and grouped digits; hexadecimal floats.
// input: x = float32[4] integers(1, 9)
// output: y = float32[4]
// output: h = float16[4]
// output: b = bfloat16[4]
// output: u = uint32[4]
// grid: 4
// expect: y = x / 2 + 2.5 + 0.5
// expect: h = np.float16(0.1) + np.float16(2)
// expect: b = [1.5] * 4
// expect: u = [5 + 1000 + 65 + 2**31] * 4
uint t = thread_position_in_grid.x;
y[t] = x[t] / 2. + 2.5 + 0x1p-1;
h[t] = 0.1h + 2.0H;
b[t] = 1.0bf + .5BF;
u[t] = 0b101 + 1'000u + 'A' + uint(1ul << 31);
