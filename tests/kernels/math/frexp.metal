// A mantissa in [1/2, 1) and an exponent, for scalars and vectors; zeros and infinities stay.
// dtypes: float32 float16
// input: x = T[12, 4] [1, 2, 3, -4, 0.5, 0.75, -0.125, 1000, 65504, -1e-3, 6.1035e-05, 7, 0, -0.0, np.inf, -np.inf, *np.linspace(-9, 9, 32)]
// output: y = T[12, 4]
// output: e = int32[12, 4]
// grid: 12
// threadgroup: 8
// where:
//     parts = np.frexp(x)
//     finite = np.isfinite(x)
// expect: y = np.where(finite, parts[0], x)
// expect: e = np.where(finite, parts[1], 0)
uint i = 4 * thread_position_in_grid.x;
int one, other;
int2 two;
y[i] = frexp(x[i], one);
y[i + 1] = frexp(x[i + 1], other);
vec<T, 2> pair = frexp(vec<T, 2>(x[i + 2], x[i + 3]), two);
y[i + 2] = pair.x;
y[i + 3] = pair.y;
*(device packed_int4*)(e + i) = packed_int4(one, other, two.x, two.y);
