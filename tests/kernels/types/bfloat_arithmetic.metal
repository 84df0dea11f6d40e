// bfloat with bfloat stays bfloat and rounds once; with float it becomes float.
// input: x = bfloat16[40] uniform(-9, 9)
// output: y = bfloat16[40, 3]
// output: z = float32[40]
// grid: 40
// threadgroup: 40
// expect: y = np.stack([x * x, x + x[:1], x / x[1]], axis=1)
// expect: z = x * np.float32(1.1)
uint i = thread_position_in_grid.x;
bfloat v = x[i];
y[3 * i] = v * v;
y[3 * i + 1] = v + x[0];
y[3 * i + 2] = v / x[1];
z[i] = v * 1.1f;
static_assert(is_same_v<decltype(v * v), bfloat> && is_same_v<decltype(v * 1.1f), float>);
