// A scalar beside a vector stands for all of its components.
// dtypes: float32 float16
// input: x = T[8, 3] uniform(-3, 3)
// output: y = T[8, 9]
// grid: 8
// threadgroup: 8
// expect: y = np.concatenate([np.maximum(x, 0.5), np.minimum(x, -0.25), np.clip(x, -1, 1)], axis=1)
uint i = thread_position_in_grid.x;
vec<T, 3> v = *(const device packed_vec<T, 3>*)(x + 3 * i);
device packed_vec<T, 3>* row = (device packed_vec<T, 3>*)(y + 9 * i);
row[0] = max(v, T(0.5));
row[1] = min(v, T(-0.25));
row[2] = clamp(v, T(-1), T(1));
