// A lane that is known only as a loop runs; the value changes from iteration to iteration.
// dtypes: float32 int32
// input: n = int32 9
// input: x = T[64] integers(-9, 10)
// output: y = T[64]
// grid: 64
// threadgroup: 32
// where:
//     v = x.reshape(2, 32).astype(np.int64)
//     total = np.zeros((2, 1), np.int64)
//     for iteration in range(3):
//         for k in range(9): total = total + v[:, k:k + 1]
//         v = v + iteration
// expect: y = np.repeat(total, 32, 1)
uint i = thread_position_in_grid.x;
T value = x[i], total = 0;
for (int iteration = 0; iteration < 3; ++iteration) {
    for (int k = 0; k < n; ++k) total += simd_shuffle(value, ushort(k));
    value += iteration;
}
y[i] = total;
