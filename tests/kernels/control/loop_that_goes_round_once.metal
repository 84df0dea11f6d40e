// A loop inside of one that never goes round again: behind the inner one all lanes meet.
// output: y = int32[2, 64]
// grid: 64
// threadgroup: 64
// where:
//     lane = np.arange(32)
//     last = np.array([max(l * k for l in lane if l % 4 >= k) for k in range(4)])
// expect: y = np.tile(np.stack([last[lane % 4], np.full(32, 5)]), 2)
uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup, largest = 0, first = 0, rounds = 0;
bool again = false;
do {
  rounds++;
  uint k = 0;
  while (true) {
    k++;
    if (k > lane % 4) break;
    largest = simd_max(lane * k);
  }
  first = simd_broadcast_first((lane & largest) ^ 5u);
} while (again && rounds < 2);
y[i] = largest;
y[64 + i] = first;
