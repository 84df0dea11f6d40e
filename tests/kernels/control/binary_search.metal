// An endless loop that each lane leaves at its own time.
// input: sorted = int32[128] np.sort(np.random.default_rng(3).integers(0, 500, 128))
// input: key = int32[70] integers(-10, 520)
// output: at = int32[70]
// grid: 70
// threadgroup: 32
// expect: at = np.searchsorted(sorted, key)
uint t = thread_position_in_grid.x;
int low = 0;
int high = 128;
for (;;) {
  if (low >= high) break;
  int middle = (low + high) / 2;
  if (sorted[middle] < key[t]) low = middle + 1;
  else high = middle;
}
at[t] = low;
