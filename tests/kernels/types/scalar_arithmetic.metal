// + - * / of every type, in which the result is rounded or wrapped.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float16 bfloat16
// input: x = T[60] integers(1, 9)
// input: z = T[60] integers(1, 9)
// output: y = T[60, 4]
// grid: 60
// threadgroup: 32
// where:
//     whole = x.dtype.kind in "iu"
// expect: y = np.stack([x + z, x + z - 1, x * z, x // z if whole else x / z], axis=1)
uint i = thread_position_in_grid.x;
T a = x[i], b = z[i];
y[4 * i] = a + b;
y[4 * i + 1] = a - (T(1) - b);
y[4 * i + 2] = a * b;
y[4 * i + 3] = a / b;
