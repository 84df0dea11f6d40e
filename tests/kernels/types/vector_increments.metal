// ++ and -- in front and behind, compound assignments with scalars and vectors.
// dtypes: int8 uint16 int32 uint64
// input: x = T[5, 4] integers(0, 60)
// output: y = T[5, 12]
// grid: 5
// expect: y = np.concatenate([x, x + 1 - 1 + 2, ((x + 2) * 3 - 4) ^ 5], axis=1)
uint i = thread_position_in_grid.x;
vec<T, 4> v(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]);
device packed_vec<T, 4>* row = (device packed_vec<T, 4>*)y + 3 * i;
row[0] = v++;
--v;
v++;
++v;
row[1] = v;
v *= 3;
v -= vec<T, 4>(4);
v ^= 5;
row[2] = v;
