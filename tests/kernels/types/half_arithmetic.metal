// half with half stays half, with int too, with float becomes float.
// input: x = float16[40] uniform(-9, 9)
// output: y = float16[40, 3]
// output: z = float32[40]
// output: ok = bool[1]
// grid: 40
// threadgroup: 40
// where:
//     r = lambda v: v.astype(np.float16).astype(np.float32)
// expect: y = np.stack([r(r(x * x) + x), x * 3, r(x / 7)], axis=1)
// expect: z = x * np.float32(1.1)
// expect: ok = True
uint i = thread_position_in_grid.x;
half v = x[i];
half square = v * v;  // in one expression, the two operations may be fused
y[3 * i] = square + v;
y[3 * i + 1] = v * 3;
y[3 * i + 2] = v / 7;
z[i] = v * 1.1f;
static_assert(is_same_v<decltype(v * v), half> && is_same_v<decltype(v * 3), half>);
static_assert(is_same_v<decltype(v * 1.1f), float>);
if (i == 0) ok[0] = true;
