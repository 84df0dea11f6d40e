// Vectors of 2, 3 and 4 take 2, 4 and 4 elements, aligned to their size; packed ones take n.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float16 bfloat16 bool
// output: y = int32[6]
// output: p = int32[6]
// grid: 1
// where:
//     n = {"bool": 1, "bfloat16": 2}.get(dtype) or np.dtype(dtype).itemsize
// expect: y = [2 * n, 4 * n, 4 * n] * 2
// expect: p = [2 * n, 3 * n, 4 * n, n, n, n]
y[0] = sizeof(vec<T, 2>), y[1] = sizeof(vec<T, 3>), y[2] = sizeof(vec<T, 4>);
y[3] = alignof(vec<T, 2>), y[4] = alignof(vec<T, 3>), y[5] = alignof(vec<T, 4>);
p[0] = sizeof(packed_vec<T, 2>), p[1] = sizeof(packed_vec<T, 3>), p[2] = sizeof(packed_vec<T, 4>);
p[3] = alignof(packed_vec<T, 2>), p[4] = alignof(packed_vec<T, 3>), p[5] = alignof(packed_vec<T, 4>);
