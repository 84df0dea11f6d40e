// All triples of numbers, infinities and NaN: the largest number.
// dtypes: float32 float16
// input: a = T[13, 10] np.resize(np.repeat([1, -2, np.nan, np.inf, -np.inf], 25), 130)
// input: b = T[13, 10] np.resize(np.repeat(np.tile([1, -2, np.nan, np.inf, -np.inf], 5), 5), 130)
// input: c = T[13, 10] np.resize(np.tile([1, -2, np.nan, np.inf, -np.inf], 25), 130)
// output: y = T[13, 10]
// grid: 13
// threadgroup: 4
// expect: y = np.fmax(np.fmax(a, b), c)
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> a4 = *(const device packed_vec<T, 4>*)(a + i);
vec<T, 4> b4 = *(const device packed_vec<T, 4>*)(b + i);
vec<T, 4> c4 = *(const device packed_vec<T, 4>*)(c + i);
vec<T, 3> a3 = *(const device packed_vec<T, 3>*)(a + i + 4);
vec<T, 3> b3 = *(const device packed_vec<T, 3>*)(b + i + 4);
vec<T, 3> c3 = *(const device packed_vec<T, 3>*)(c + i + 4);
vec<T, 2> a2 = *(const device packed_vec<T, 2>*)(a + i + 7);
vec<T, 2> b2 = *(const device packed_vec<T, 2>*)(b + i + 7);
vec<T, 2> c2 = *(const device packed_vec<T, 2>*)(c + i + 7);
*(device packed_vec<T, 4>*)(y + i) = fmax3(a4, b4, c4);
*(device packed_vec<T, 3>*)(y + i + 4) = fmax3(a3, b3, c3);
*(device packed_vec<T, 2>*)(y + i + 7) = fmax3(a2, b2, c2);
y[i + 9] = fmax3(a[i + 9], b[i + 9], c[i + 9]);
