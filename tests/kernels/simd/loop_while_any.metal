// A loop that all lanes leave together, when the last has finished.
// input: x = int32[96] integers(1, 40)
// output: rounds = int32[96]
// output: left = int32[96]
// grid: 96
// threadgroup: 96
// where:
//     most = (x.reshape(3, 32).max(axis=1) + 6) // 7
// expect: rounds = most.repeat(32)
// expect: left = x - 7 * most.repeat(32)
uint i = thread_position_in_grid.x;
int rest = x[i];
int count = 0;
while (simd_any(rest > 0)) {
  rest -= 7;
  count++;
}
rounds[i] = count;
left[i] = rest;
