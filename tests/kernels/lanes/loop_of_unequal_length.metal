// Lanes leave a loop one after the other; the sum of each iteration is over those that are left.
// input: n = int32[64] integers(0, 9)
// output: y = int32[64]
// grid: 64
// threadgroup: 32
// where:
//     total = np.zeros(64, np.int64)
//     for iteration in range(9):
//         left = n > iteration
//         sums = (left.reshape(2, 32) * np.arange(32)).sum(1)
//         total += np.where(left, np.repeat(sums, 32), 0)
// expect: y = total
uint i = thread_position_in_grid.x;
int total = 0;
for (int iteration = 0; iteration < n[i]; ++iteration) total += simd_sum(int(thread_index_in_simdgroup));
y[i] = total;
