// The last eight values in a ring, indexed by data.
// input: x = int32[200] integers(-99, 99)
// output: y = int32[40]
// grid: 40
// threadgroup: 20
// where: w = np.lib.stride_tricks.sliding_window_view(x, 160)
// expect: y = np.array([[r[k:k + 8].max() - r[k:k + 8].min() for k in range(153)] for r in w[:40].astype(int)]).max(1)
uint t = thread_position_in_grid.x;
int ring[8];
int best = 0;
for (int i = 0; i < 160; i++) {
  ring[i & 7] = x[t + i];
  if (i < 7) continue;
  int high = ring[0], low = ring[0];
  for (int k = 1; k < 8; k++) {
    high = max(high, ring[k]);
    low = min(low, ring[k]);
  }
  best = max(best, high - low);
}
y[t] = best;
