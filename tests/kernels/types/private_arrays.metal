// Arrays of a thread's own, of every type, written and read by indices that differ per lane.
// dtypes: int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float16 bfloat16 bool
// input: x = T[50, 6] random
// output: y = T[50, 6]
// grid: 50
// threadgroup: 32
// where:
//     at = (np.arange(6) * 5 + np.arange(50)[:, None]) % 6
//     r = np.empty_like(x)
//     np.put_along_axis(r, at, x, 1)
// expect: y = r
uint i = thread_position_in_grid.x;
T own[6];
for (uint k = 0; k < 6; ++k) own[(k * 5 + i) % 6] = x[6 * i + k];
for (uint k = 0; k < 6; ++k) y[6 * i + k] = own[k];
