// Sums, products and scans of real numbers, in any order of summation.
// input: x = float32[75] uniform(0.5, 1.5)
// output: y = float32[75, 4]
// grid: 75
// threadgroup: 75
// where:
//     parts = np.split(x.astype('d'), [32, 64])
//     each = lambda f: np.concatenate([np.broadcast_to(f(p), p.shape) for p in parts])
// expect: y = np.stack([each(np.sum), each(np.prod), each(np.cumsum), each(np.cumprod)], axis=1)
// close: 2e-5
uint i = thread_position_in_grid.x;
y[4 * i] = simd_sum(x[i]);
y[4 * i + 1] = simd_product(x[i]);
y[4 * i + 2] = simd_prefix_inclusive_sum(x[i]);
y[4 * i + 3] = simd_prefix_inclusive_product(x[i]);
