// Threads with a row of 16 each, of which some leave theirs alone.
// input: x = int32[96, 16] integers(-99, 99)
// input: on = bool[96] random
// output: y = int32[96, 16]
// init: 0
// grid: 96
// threadgroup: 32
// expect: y = np.where(on[:, None], x - x[:, ::-1], 0)
uint t = thread_position_in_grid.x;
if (on[t]) {
  int row[16];
  for (uint k = 0; k < 16; ++k) row[k] = x[16 * t + k];
  for (uint k = 0; k < 16; ++k) y[16 * t + k] = row[k] - row[15 - k];
}
