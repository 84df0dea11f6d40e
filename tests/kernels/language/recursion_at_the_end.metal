// Functions that end by calling themselves are loops: a member without a result, whose variables
// end behind the call; a function with one, and one that computes with what comes back.
// input: n = int32[40] integers(0, 120)
// output: y = int32[40]
// output: z = int32[40]
// grid: 40
// expect: y = n % 7 + 100 * (n // 7)
// expect: z = n * (n + 1) // 2 + np.gcd(n, 84)
// header:
struct Walk {
  int place;
  int steps;
  void next(int n, int size) thread {
    place += n;
    if (place >= size) {
      int extra = place - size;
      if (extra >= size) {
        int rounds = extra / size;
        steps += rounds;
        extra = extra % size;
      }
      place = 0;
      steps++;
      if (extra > 0) {
        next(extra, size);
      }
    }
  }
};
int divisor(int a, int b) { return b == 0 ? a : divisor(b, a % b); }
int sum(int n) { return n == 0 ? 0 : n + sum(n - 1); }
// body:
uint i = thread_position_in_grid.x;
Walk walk = {0, 0};
walk.next(n[i], 7);
y[i] = walk.place + 100 * walk.steps;
z[i] = sum(n[i]) + divisor(n[i], 84);
