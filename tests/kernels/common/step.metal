// 0 below the edge and 1 from it on.
// dtypes: float32 float16
// input: e = T[13, 10] integers(-2, 2)
// input: x = T[13, 10] integers(-2, 2)
// output: y = T[13, 10]
// grid: 13
// threadgroup: 6
// expect: y = x >= e
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> e4 = *(const device packed_vec<T, 4>*)(e + i);
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> e3 = *(const device packed_vec<T, 3>*)(e + i + 4);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> e2 = *(const device packed_vec<T, 2>*)(e + i + 7);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = step(e4, x4);
*(device packed_vec<T, 3>*)(y + i + 4) = step(e3, x3);
*(device packed_vec<T, 2>*)(y + i + 7) = step(e2, x2);
y[i + 9] = step(e[i + 9], x[i + 9]);
