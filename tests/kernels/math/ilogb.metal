// The exponent of a number, subnormal halves included; scalars and vectors.
// dtypes: float32 float16
// input: x = T[16] [1, 2, 3, -4, 0.5, 0.75, -0.125, 1000, 65504, 1e-3, 0.0001, 7, 8, -9, 1e4, 100]
// output: y = int32[16]
// grid: 2
// threadgroup: 2
// expect: y = np.frexp(x)[1] - 1
uint i = 8 * thread_position_in_grid.x;
int4 a = ilogb(vec<T, 4>(x[i], x[i + 1], x[i + 2], x[i + 3]));
int3 b = ilogb(vec<T, 3>(x[i + 4], x[i + 5], x[i + 6]));
y[i] = a.x, y[i + 1] = a.y, y[i + 2] = a.z, y[i + 3] = a.w;
y[i + 4] = b.x, y[i + 5] = b.y, y[i + 6] = b.z, y[i + 7] = ilogb(x[i + 7]);
