// The middle one of three numbers in any order, equal ones included.
// dtypes: float32 float16
// input: a = T[13, 10] integers(-3, 3)
// input: b = T[13, 10] integers(-3, 3)
// input: c = T[13, 10] integers(-3, 3)
// output: y = T[13, 10]
// grid: 13
// threadgroup: 4
// expect: y = np.median([a, b, c], axis=0)
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
*(device packed_vec<T, 4>*)(y + i) = fmedian3(a4, b4, c4);
*(device packed_vec<T, 3>*)(y + i + 4) = fmedian3(a3, b3, c3);
*(device packed_vec<T, 2>*)(y + i + 7) = fmedian3(a2, b2, c2);
y[i + 9] = fmedian3(a[i + 9], b[i + 9], c[i + 9]);
