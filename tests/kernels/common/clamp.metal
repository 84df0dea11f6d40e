// min(max(x, low), high); NaN comes out as the lower bound.
// dtypes: float32 float16
// input: x = T[13, 10] np.resize([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.25, -0.75, 2, 0.5, -3, 1e-3], 130)
// input: low = T[13, 10] uniform(-1, 0)
// input: high = T[13, 10] uniform(0, 1)
// output: y = T[13, 10]
// grid: 13
// threadgroup: 6
// expect: y = np.where(np.isnan(x), low, np.clip(x, low, high))
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 4> low4 = *(const device packed_vec<T, 4>*)(low + i);
vec<T, 4> high4 = *(const device packed_vec<T, 4>*)(high + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 3> low3 = *(const device packed_vec<T, 3>*)(low + i + 4);
vec<T, 3> high3 = *(const device packed_vec<T, 3>*)(high + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
vec<T, 2> low2 = *(const device packed_vec<T, 2>*)(low + i + 7);
vec<T, 2> high2 = *(const device packed_vec<T, 2>*)(high + i + 7);
*(device packed_vec<T, 4>*)(y + i) = clamp(x4, low4, high4);
*(device packed_vec<T, 3>*)(y + i + 4) = clamp(x3, low3, high3);
*(device packed_vec<T, 2>*)(y + i + 7) = clamp(x2, low2, high2);
y[i + 9] = clamp(x[i + 9], low[i + 9], high[i + 9]);
