// A loop around a switch, with a state for each case.
// input: x = int32[64] integers(0, 1000)
// output: y = int32[64]
// grid: 64
// threadgroup: 32
// where:
//     def steps(n):
//         count = 0
//         while n > 1 and count < 40:
//             n = n // 2 if n % 2 == 0 else 3 * n + 1
//             count += 1
//         return count
// expect: y = np.array([steps(int(n)) for n in x])
enum State { LOOK, HALVE, TRIPLE, DONE };
uint t = thread_position_in_grid.x;
int n = x[t], count = 0;
State state = LOOK;
while (state != DONE) {
  switch (state) {
    case LOOK:
      if (n <= 1 || count == 40) { state = DONE; break; }
      count++;
      state = n & 1 ? TRIPLE : HALVE;
      continue;
    case HALVE: n /= 2; state = LOOK; break;
    case TRIPLE: n = 3 * n; n += 1;  // falls through
    default: state = LOOK;
  }
}
y[t] = count;
