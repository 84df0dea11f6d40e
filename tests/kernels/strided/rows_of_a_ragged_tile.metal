// The lanes of a gang lie in several rows of the grid: consecutive in pieces.
// input: x = float32[300] random
// input: to = int32[300] np.random.default_rng(8).permutation(300)
// output: y = float32[133]
// output: z = float32[133]
// grid: 19 7
// threadgroup: 16 3
// expect: y = x[tid + 9] - x[tid * 2 + 1]
// expect: z = x[to[tid]] * 2
uint t = thread_position_in_grid.x + threads_per_grid.x * thread_position_in_grid.y;
y[t] = x[t + 9] - x[t * 2 + 1];
z[t] = x[to[t]] * 2;
