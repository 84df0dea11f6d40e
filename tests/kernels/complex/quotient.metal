// Quotients, with the larger part of the divisor real or imaginary.
// input: x = complex64[40] normal(size=(40,)) + 1j * normal(size=(40,))
// input: z = complex64[40] normal(size=(40,)) + 1j * (normal(size=(40,)) + 0.5)
// output: y = complex64[40]
// grid: 40
// threadgroup: 32
// expect: y = x.astype(complex) / z
// close: 1e-6 1e-6
uint i = thread_position_in_grid.x;
y[i] = x[i] / z[i];
