// Subnormal numbers are not normal, whatever arithmetic does with them.
// input: f = uint32[4] [1, 0x7fffff, 0x800000, 0x807fffff]
// input: h = uint16[4] [1, 0x3ff, 0x400, 0x83ff]
// output: y = bool[4, 2]
// output: z = bool[4, 2]
// grid: 4
// expect: y = [[False, False], [False, False], [True, True], [False, False]]
// expect: z = True
uint i = thread_position_in_grid.x;
y[2 * i] = isnormal(as_type<float>(f[i]));
y[2 * i + 1] = isnormal(as_type<half>(h[i]));
z[2 * i] = isfinite(as_type<float>(f[i]));
z[2 * i + 1] = !isnan(as_type<half>(h[i]));
