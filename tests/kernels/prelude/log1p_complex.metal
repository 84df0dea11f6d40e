// log(1 + z) of complex numbers, near zero, near the unit circle and far away.
// input: x = complex64[40] (normal(size=(40,)) + 1j * normal(size=(40,))) * np.resize([1e-3, 1, 100], 40)
// output: y = complex64[40]
// grid: 40
// threadgroup: 32
// expect: y = np.log1p(x.astype(complex))
// close: 2e-6 2e-6
y[thread_position_in_grid.x] = log1p(x[thread_position_in_grid.x]);
