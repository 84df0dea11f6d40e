// The number of iterations, the step and the direction come from inputs.
// input: n = int32[60] integers(0, 20)
// input: s = int32[60] integers(1, 4)
// output: y = int32[60]
// grid: 60
// threadgroup: 32
// expect: y = np.array([sum(range(int(a), -1, -int(b))) * 1000 + len(range(0, int(a), int(b))) for a, b in zip(n, s)])
uint t = thread_position_in_grid.x;
int down = 0, rounds = 0;
for (int i = n[t]; i >= 0; i -= s[t]) down += i;
for (int i = 0; i < n[t]; i += s[t]) ++rounds;
y[t] = down * 1000 + rounds;
