// complex32_t and complex_t<bfloat16_t> compute in their own precision.
// input: x = complex64[36] np.repeat(np.arange(6), 6) + 1j * np.tile(np.arange(6), 6)
// output: y = complex64[36, 2]
// grid: 36
// threadgroup: 32
// expect: y = np.stack([x * x, 2 * x], axis=1)
uint i = thread_position_in_grid.x;
complex32_t a(half(x[i].real), half(x[i].imag));
complex_t<bfloat16_t> b(bfloat16_t(x[i].real), bfloat16_t(x[i].imag));
y[2 * i] = complex64_t(a * a);
y[2 * i + 1] = complex64_t(b + b);
static_assert(sizeof(a) == 4 && sizeof(b) == 4 && is_same_v<decltype(b)::value_type, bfloat16_t>);
