// Sums in branches inside of branches inside of loops, each over those that are there.
// covers: under divergence: only active lanes take part
// input: x = int32[70] integers(0, 50)
// output: y = int32[70]
// grid: 70
// threadgroup: 70
// where:
//     gang = tid // 32
//     total = np.zeros(70, np.int64)
//     for iteration in range(3):
//         for keep in (x % 3 == iteration) & (x > 20), (x % 3 == iteration) & (x <= 20) & (x % 2 == 0):
//             for g in range(3):
//                 here = keep & (gang == g)
//                 total[here] += x[here].sum()
// expect: y = total
uint i = thread_position_in_grid.x;
int v = x[i], total = 0;
for (int iteration = 0; iteration < 3; ++iteration) {
  if (v % 3 == iteration) {
    if (v > 20) {
      total += simd_sum(v);
    } else if (v % 2 == 0) {
      total += simd_sum(v);
    }
  }
}
y[i] = total;
