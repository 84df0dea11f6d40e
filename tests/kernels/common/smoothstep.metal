// 0 up to the first edge, 1 from the second one, a cubic between.
// dtypes: float32 float16
// input: x = T[13, 10] uniform(-3, 3)
// output: y = T[13, 10]
// grid: 13
// threadgroup: 6
// where:
//     t = np.clip((x + 1) / 3, 0, 1)
// expect: y = t * t * (3 - 2 * t)
// close: 2e-3 2e-3
uint i = 10 * thread_position_in_grid.x;
vec<T, 4> x4 = *(const device packed_vec<T, 4>*)(x + i);
vec<T, 3> x3 = *(const device packed_vec<T, 3>*)(x + i + 4);
vec<T, 2> x2 = *(const device packed_vec<T, 2>*)(x + i + 7);
*(device packed_vec<T, 4>*)(y + i) = smoothstep(x4 * T(0) - T(1), x4 * T(0) + T(2), x4);
*(device packed_vec<T, 3>*)(y + i + 4) = smoothstep(x3 * T(0) - T(1), x3 * T(0) + T(2), x3);
*(device packed_vec<T, 2>*)(y + i + 7) = smoothstep(x2 * T(0) - T(1), x2 * T(0) + T(2), x2);
y[i + 9] = smoothstep(x[i + 9] * T(0) - T(1), x[i + 9] * T(0) + T(2), x[i + 9]);
