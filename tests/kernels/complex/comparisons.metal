// Order by the real part, then by the imaginary one.
// input: x = complex64[50] integers(0, 2) + 1j * integers(0, 2)
// input: z = complex64[50] integers(0, 2) + 1j * integers(0, 2)
// output: y = bool[50, 5]
// grid: 50
// threadgroup: 32
// where:
//     less = (x.real < z.real) | ((x.real == z.real) & (x.imag < z.imag))
// expect: y = np.stack([x == z, less, less | (x == z), ~(less | (x == z)), ~less], axis=1)
uint i = thread_position_in_grid.x;
device bool* row = y + 5 * i;
row[0] = x[i] == z[i];
row[1] = x[i] < z[i];
row[2] = x[i] <= z[i];
row[3] = x[i] > z[i];
row[4] = x[i] >= z[i];
