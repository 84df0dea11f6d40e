// Float arithmetic takes subnormals for zero and makes none; loads, stores and as_type keep them.
// input: x = uint32[5] [1, 0x7fffff, 0x80000001, 0x800000, 0x1000000]
// output: y = uint32[5, 4]
// grid: 5
// expect: y = np.stack([x, [0, 0, 0, 0, 0x800000], [0, 0, 0, 0x1000000, 0x1800000], [0, 0, 0, 1, 1]], axis=1)
uint i = thread_position_in_grid.x;
float v = as_type<float>(x[i]);
y[4 * i] = as_type<uint>(v);
y[4 * i + 1] = as_type<uint>(v * 0.5f) & 0x7fffffff;
y[4 * i + 2] = as_type<uint>(v * 2.0f) & 0x7fffffff;
y[4 * i + 3] = v > 0.0f || v < 0.0f;
