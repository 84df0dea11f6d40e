// ?: between half and float, int and half, and literals.
// input: x = float16[30] uniform(-3, 3)
// output: y = float32[30, 3]
// grid: 30
// expect: y = np.stack([np.where(x > 0, x, np.float32(0.1)), np.where(x > 0, x, 0), np.where(x > 0, x, 1)], axis=1)
uint i = thread_position_in_grid.x;
half v = x[i];
y[3 * i] = v > 0 ? v : 0.1f;
y[3 * i + 1] = v > 0 ? v : 0;
y[3 * i + 2] = v > 0.0h ? v : 1.0h;
static_assert(is_same_v<decltype(true ? v : 0.1f), float> && is_same_v<decltype(true ? v : 0.1h), half>);
