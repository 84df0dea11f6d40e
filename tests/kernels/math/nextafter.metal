// One step towards the second argument: across powers of two, to infinity, from zero out.
// dtypes: float32 float16
// input: x = T[10, 10] np.repeat([1, -1, 2, 4, -8, 3.140625, 1000, 65504, -65504, 0.125], 10)
// input: z = T[10, 10] np.tile([np.inf, -np.inf, 0, 1, -1, 5, 1e4, 3, np.nan, -8], 10)
// output: y = T[10, 10]
// grid: 10
// threadgroup: 5
// expect: y = np.nextafter(x.astype(np.dtype(dtype)), z.astype(np.dtype(dtype)))
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 4> z4 = *(const device packed_vec<T, 4>*)(z + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 3> z3 = *(const device packed_vec<T, 3>*)(z + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
vec<T, 2> z2 = *(const device packed_vec<T, 2>*)(z + i + 7);
*(device packed_vec<T, 4>*)(y + i) = nextafter(x4, z4);
*(device packed_vec<T, 3>*)(y + i + 4) = nextafter(x3, z3);
*(device packed_vec<T, 2>*)(y + i + 7) = nextafter(x2, z2);
y[i + 9] = nextafter(x[i + 9], z[i + 9]);
