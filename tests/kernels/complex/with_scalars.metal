// Scalars of several types on either side.
// input: x = complex64[40] normal(size=(40,)) + 1j * (2 + np.arange(40))
// output: y = complex64[40]
// grid: 40
// threadgroup: 32
// expect: y = (x + 1) + (2 + x) - (x - 3) + (4 - x) + 5 / x.astype(complex)
// close: 1e-5 1e-5
uint i = thread_position_in_grid.x;
complex64_t v = x[i];
y[i] = (v + 1.0f) + (2 + v) - (v - 3) + (4.0h - v) + 5.0f / v;
