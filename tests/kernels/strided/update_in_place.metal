// Load, change, store, return for some, load again: each element exactly once, in ragged 2-D groups.
// input: flag = bool[2] [False, True]
// output: y = uint32[180]
// grid: 20 3
// threadgroup: 8 4
// init: 7
// expect: y = np.where(np.arange(180) < 120, 7, np.where(np.arange(180) % 5 == 0, 3, 2))
uint t = thread_position_in_grid.x + threads_per_grid.x * thread_position_in_grid.y;
if (flag[1]) {
  y[t + 120] >>= 1;
  if (flag[0] || t % 5 == 0) return;
  y[t + 120] &= 2;
}
