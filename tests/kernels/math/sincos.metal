// Both at once, for scalars and vectors.
// dtypes: float32 float16
// input: x = T[20, 5] uniform(-20, 20)
// output: y = T[20, 5]
// output: z = T[20, 5]
// grid: 20
// threadgroup: 16
// expect: y = np.sin(x.astype('d'))
// expect: z = np.cos(x.astype('d'))
// close: 1e-6
uint i = 5 * thread_position_in_grid.x;
T cosine;
vec<T, 4> cosines;
y[i] = sincos(x[i], cosine);
vec<T, 4> sines = sincos(vec<T, 4>(x[i + 1], x[i + 2], x[i + 3], x[i + 4]), cosines);
z[i] = cosine;
*(device packed_vec<T, 4>*)(y + i + 1) = sines;
*(device packed_vec<T, 4>*)(z + i + 1) = cosines;
