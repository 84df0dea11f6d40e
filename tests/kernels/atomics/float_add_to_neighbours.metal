// Lanes add to consecutive elements, from a start that no block of 16 bytes begins at.
// input: x = float32[1000] integers(-100, 100)
// input: start = int32[3] [0, 5, 14]
// output: y = float32[1100]
// grid: 1000
// threadgroup: 96
// init: 0
// atomic_outputs: true
// where:
//     a = np.zeros(1100, np.float32); i = np.arange(1000)
//     for s in (0, 5, 14): a[s + i] += x * (i % 3 != 1)
// expect: y = a
uint i = thread_position_in_grid.x;
for (int k = 0; k < 3; k++) {
    if (i % 3 != 1) atomic_fetch_add_explicit(&y[start[k] + i], x[i], memory_order_relaxed);
}
