// complex64_t: product, quotient, comparison by parts.
// input: a = complex64[50] np.arange(50) - 25 + 1j * (np.arange(50) % 7)
// input: b = complex64[50] (np.arange(50) % 5) + 1 - 2j
// output: product = complex64[50]
// output: quotient = complex64[50]
// output: equal = bool[50]
// grid: 50
// threadgroup: 32
// expect: product = a * b
// expect: quotient = a.astype(np.complex128) / b
// expect: equal = a == b
// close: 1e-6
uint i = thread_position_in_grid.x;
product[i] = a[i] * b[i];
quotient[i] = a[i] / b[i];
equal[i] = a[i] == b[i];
