// The call stands in the head of a loop, but runs once, in front of it.
// input: x = float32[32] np.arange(32) + 1
// input: flags = bool[4] [False, True, True, False]
// output: y = int32[32]
// grid: 32
// threadgroup: 32
// init: 7
// expect: y = np.full(32, 7)
uint zero = 0u;
for (long k = x[quad_max(1)] == x[flags[0] ? 1u : zero] ? 3L : 192153584101141162L; k < 2L; k += 3) {
  if (x[0u] == 0.0f) {
    return;
  }
}
