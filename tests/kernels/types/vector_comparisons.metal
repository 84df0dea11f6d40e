// Comparisons of vectors give boolean vectors, component by component.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float16 bfloat16
// input: x = T[16, 3] integers(0, 3)
// input: z = T[16, 3] integers(0, 3)
// output: y = bool[16, 18]
// grid: 16
// threadgroup: 16
// expect: y = np.concatenate([x == z, x != z, x < z, x <= z, x > z, x >= z], axis=1)
uint i = thread_position_in_grid.x;
vec<T, 3> a = ((const device packed_vec<T, 3>*)x)[i], b = ((const device packed_vec<T, 3>*)z)[i];
bool3 all[] = {a == b, a != b, a < b, a <= b, a > b, a >= b};
for (int k = 0; k < 18; ++k) y[18 * i + k] = all[k / 3][k % 3];
