// From scalars, parts, vectors and other precisions; to vectors and real numbers.
// input: x = complex64[40] normal(size=(40,)) + 1j * normal(size=(40,))
// input: z = complex64[40] normal(size=(40,)) + 1j * (normal(size=(40,)) + 0.5)
// output: y = complex64[40, 4]
// grid: 40
// threadgroup: 32
// expect: y = np.stack([x.imag + 1j * x.real, x * 0 + 3, x.imag + 1j, np.arange(40) + 2j], axis=1)
uint i = thread_position_in_grid.x;
complex64_t a(x[i].real, x[i].imag), b = 3.0f, c = float2(x[i].imag, 1.0f), d;
complex32_t h = complex32_t(half(i), half(2));
d = complex64_t();
float2 parts = float2(a);
float real = b;
y[4 * i] = complex64_t(parts.y, parts.x);
y[4 * i + 1] = complex64_t(real, 0) + d;
y[4 * i + 2] = c;
y[4 * i + 3] = complex64_t(h);
