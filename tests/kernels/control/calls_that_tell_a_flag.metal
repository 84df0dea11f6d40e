// Cross-lane calls whose iteration tells the condition of the loop around them: by a flag, by a number,
// in a function, in a loop inside. They are over the lanes of that iteration.
// output: y = int32[6, 96]
// grid: 96
// threadgroup: 96
// where:
//     key = np.arange(32) * 7 % 5
//     same = np.array([np.sum(key == k) for k in key])
// expect: y = np.tile(np.stack([same, same, same, same * 101, same, 8 * (np.arange(32) % 4 + 1)]), 3)
// header:
bool taken(uint key, thread int& result) {
  if (simd_min(key) != key) return false;
  result = simd_sum(1);
  return true;
}
// body:
uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup, key = lane * 7 % 5;
int r = 0;
for (bool done = false; !done;) {
  if (simd_broadcast_first(key) == key) {
    r = simd_sum(1);
    done = true;
  }
}
y[i] = r;
r = 0;
bool done = false;
while (!done) {
  bool mine = simd_min(key) == key;
  if (mine) r = simd_sum(1);
  done |= mine;
}
y[96 + i] = r;
done = false;
while (!done) done = taken(key, r);
y[192 + i] = r;
uint left = 1;
while (left) {
  uint votes = uint((ulong)simd_ballot(simd_broadcast_first(key) == key));
  if (votes >> lane & 1) {
    r = popcount(votes) + simd_sum(100);
    left = 0;
  }
}
y[288 + i] = r;
done = false;
while (!done) {
  for (int k = 0; k < 3; k++) {
    if (!done && simd_min(key) == key) {
      r = simd_sum(1);
      done = true;
    }
  }
}
y[384 + i] = r;
done = false;
int rounds = 0;
while (!done) {
  rounds++;
  if (rounds > int(lane % 4)) {
    r = simd_sum(rounds);
    done = true;
  }
}
y[480 + i] = r;
