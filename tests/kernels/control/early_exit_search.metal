// Every thread searches the buffer until its own value comes, or not at all.
// input: x = int32[100] integers(0, 30)
// input: z = int32[60] integers(0, 40)
// output: y = int32[60]
// grid: 60
// threadgroup: 32
// expect: y = np.array([np.flatnonzero(x == v)[0] if (x == v).any() else -1 for v in z])
uint t = thread_position_in_grid.x;
y[t] = -1;
for (uint i = 0; i < 100; i++) {
  if (x[i] != z[t]) continue;
  y[t] = i;
  return;
}
