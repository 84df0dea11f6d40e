// Arguments of sin, cos and tan that are reduced in integers: of some lanes, of all, of none, and one
// for all.
// input: x = float32[160] np.r_[10.0 ** np.linspace(0, 38, 64) * (-1) ** np.arange(64), [np.inf, -np.inf, np.nan, 12800, 12800.001, 3.4e38, 0, -0.0], normal(size=56) * 1e6, normal(size=32)]
// output: y = float32[160, 3]
// output: z = float32[160, 3]
// grid: 160
// threadgroup: 40
// where:
//     a, b = (v.astype(np.float64) for v in (x, x[40 * (np.arange(160) // 40) + 3]))
// expect: y = np.stack([np.sin(a), np.cos(a), np.tan(a)], 1)
// expect: z = np.stack([np.sin(b), np.cos(b), np.tan(b)], 1)
// close: 1e-6
uint i = thread_position_in_grid.x;
const float a = x[i], b = x[40 * threadgroup_position_in_grid.x + 3];
y[3 * i] = sin(a);
y[3 * i + 1] = cos(a);
y[3 * i + 2] = tan(a);
z[3 * i] = sin(b);
z[3 * i + 1] = cos(b);
z[3 * i + 2] = tan(b);
