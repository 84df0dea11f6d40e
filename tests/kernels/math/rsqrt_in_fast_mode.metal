// rsqrt and sqrt of 0 and infinity have answers in fast mode too.
// dtypes: float32 float16 bfloat16
// input: x = T[40] np.resize([0, np.inf, 4, 0.25, 16, 1, 64, 2], 40)
// output: y = T[40, 2]
// grid: 40
// threadgroup: 32
// math_mode: fast
// expect: y = np.stack([1 / np.sqrt(x.astype('d')), np.sqrt(x)], axis=1)
// close: 1e-6
uint i = thread_position_in_grid.x;
y[2 * i] = rsqrt(x[i]);
y[2 * i + 1] = sqrt(x[i]);
