// What moves in comes from the other value, in blocks of four and of two.
// dtypes: float32 float16 uint16 int32 uint64
// input: x = T[64] random
// input: fill = T[64] random
// output: y = T[4, 64]
// grid: 64
// threadgroup: 32
// where:
//     q = x.reshape(-1, 4)
//     f = fill.reshape(-1, 4)
//     pairs = lambda *columns: np.stack(columns, axis=1)
// expect: y = np.stack([np.c_[f[:, 3], q[:, :3]], np.c_[q[:, 3], f[:, :3]], pairs(f[:, 1], q[:, 0], f[:, 3], q[:, 2]),
//     pairs(q[:, 1], f[:, 0], q[:, 3], f[:, 2])])
uint i = thread_position_in_grid.x;
y[i] = quad_shuffle_and_fill_up(x[i], fill[i], 1);
y[64 + i] = quad_shuffle_and_fill_down(x[i], fill[i], 3);
y[128 + i] = quad_shuffle_and_fill_up(x[i], fill[i], 1, 2);
y[192 + i] = quad_shuffle_and_fill_down(x[i], fill[i], 1, 2);
