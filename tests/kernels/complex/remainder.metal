// % works on real and imaginary parts, with the sign of the divisor.
// input: x = complex64[24] integers(-20, 20) + 1j * integers(-20, 20)
// input: z = complex64[24] np.resize([3, -4, 5], 24) + 1j * np.resize([7, 2, -3, 6], 24)
// output: y = complex64[24]
// grid: 24
// threadgroup: 32
// expect: y = np.mod(x.real, z.real) + 1j * np.mod(x.imag, z.imag)
uint i = thread_position_in_grid.x;
y[i] = x[i] % z[i];
