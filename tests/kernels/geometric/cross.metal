// Perpendicular to both; of small whole numbers it is exact.
// dtypes: float32 float16
// input: x = T[30, 3] integers(-9, 9)
// input: z = T[30, 3] integers(-9, 9)
// output: y = T[30, 5]
// grid: 30
// threadgroup: 16
// where:
//     n = np.cross(x, z)
// expect: y = np.concatenate([n, np.zeros((30, 2))], axis=1)
uint i = thread_position_in_grid.x;
vec<T, 3> a = *(const device packed_vec<T, 3>*)(x + 3 * i);
vec<T, 3> b = *(const device packed_vec<T, 3>*)(z + 3 * i);
vec<T, 3> n = cross(a, b);
*(device packed_vec<T, 3>*)(y + 5 * i) = n;
y[5 * i + 3] = dot(n, a);
y[5 * i + 4] = dot(cross(a, a), b);
