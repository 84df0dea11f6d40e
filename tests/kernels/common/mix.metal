// x + (y - x)·a, also outside of [0, 1].
// dtypes: float32 float16
// input: u = T[13, 10] integers(-8, 8)
// input: v = T[13, 10] integers(-8, 8)
// input: a = T[13, 10] np.resize([0, 1, 0.5, 0.25, -1, 2], 130)
// output: y = T[13, 10]
// grid: 13
// threadgroup: 6
// expect: y = u + (v - u) * a
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> u4 = *(const device packed_vec<T, 4>*)(u + i);
vec<T, 4> v4 = *(const device packed_vec<T, 4>*)(v + i);
vec<T, 4> a4 = *(const device packed_vec<T, 4>*)(a + i);
vec<T, 3> u3 = *(const device packed_vec<T, 3>*)(u + i + 4);
vec<T, 3> v3 = *(const device packed_vec<T, 3>*)(v + i + 4);
vec<T, 3> a3 = *(const device packed_vec<T, 3>*)(a + i + 4);
vec<T, 2> u2 = *(const device packed_vec<T, 2>*)(u + i + 7);
vec<T, 2> v2 = *(const device packed_vec<T, 2>*)(v + i + 7);
vec<T, 2> a2 = *(const device packed_vec<T, 2>*)(a + i + 7);
*(device packed_vec<T, 4>*)(y + i) = mix(u4, v4, a4);
*(device packed_vec<T, 3>*)(y + i + 4) = mix(u3, v3, a3);
*(device packed_vec<T, 2>*)(y + i + 7) = mix(u2, v2, a2);
y[i + 9] = mix(u[i + 9], v[i + 9], a[i + 9]);
