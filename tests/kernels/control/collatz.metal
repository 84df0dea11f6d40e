// Trip counts that differ widely between lanes.
// output: steps = int32[200]
// where:
//     def collatz(n):
//         count = 0
//         while n != 1:
//             n = n // 2 if n % 2 == 0 else 3 * n + 1
//             count += 1
//         return count
// grid: 200
// threadgroup: 64
// expect: steps = [collatz(i + 1) for i in range(200)]
uint n = thread_position_in_grid.x + 1;
int count = 0;
while (n != 1) {
  if (n & 1) n = 3 * n + 1;
  else n /= 2;
  count++;
}
steps[thread_position_in_grid.x] = count;
