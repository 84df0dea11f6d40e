// Fraction and whole part, both with the sign of the number; infinity has no fraction.
// dtypes: float32 float16
// input: x = T[8, 4] [2.75, -2.75, 0.5, -0.5, 3, -3, np.inf, -np.inf, 1000.5, 0, np.nan, 1e-3, *np.linspace(-7, 7, 20)]
// output: y = T[8, 4]
// output: z = T[8, 4]
// grid: 8
// threadgroup: 8
// where:
//     whole = np.trunc(x)
// expect: y = np.where(np.isinf(x), 0, x - whole)
// expect: z = whole
uint i = 4 * thread_position_in_grid.x;
T whole;
vec<T, 3> wholes;
y[i] = modf(x[i], whole);
vec<T, 3> parts = modf(vec<T, 3>(x[i + 1], x[i + 2], x[i + 3]), wholes);
z[i] = whole;
*(device packed_vec<T, 3>*)(y + i + 1) = parts;
*(device packed_vec<T, 3>*)(z + i + 1) = wholes;
