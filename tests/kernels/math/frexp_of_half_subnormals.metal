// Subnormal halves have mantissas in [1/2, 1) too.
// input: x = float16[8] [2.0 ** -24, 3 * 2.0 ** -24, -(2.0 ** -20), 2.0 ** -15, 1.5 * 2.0 ** -15, 2.0 ** -14, -5 * 2.0 ** -24, 0]
// output: y = float16[8]
// output: e = int32[8]
// grid: 8
// expect: y = np.frexp(x)[0]
// expect: e = np.frexp(x)[1]
uint i = thread_position_in_grid.x;
int exponent;
y[i] = frexp(x[i], exponent);
e[i] = exponent;
