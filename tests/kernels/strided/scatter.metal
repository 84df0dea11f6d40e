// Each thread stores somewhere else.
// input: x = float32[90] normal
// input: to = uint32[90] np.random.default_rng(7).permutation(90)
// output: y = float32[90]
// grid: 90
// threadgroup: 32
// expect: y = x[np.argsort(to)]
uint i = thread_position_in_grid.x;
y[to[i]] = x[i];
