// Early returns of helpers in helpers, in loops and switches.
// input: x = int32[60] integers(-9, 30)
// output: y = int32[60]
// grid: 60
// threadgroup: 32
// where:
//     def inner(v): return 0 if v < 0 else next((i for i in range(5) if i * i >= v), 7)
//     def outer(v):
//         k = inner(v)
//         return {0: -1, 1: 10, 2: 20}.get(k, inner(v - 10) + 100)
// expect: y = np.array([outer(int(v)) for v in x])
// header:
inline int inner(int v) {
  if (v < 0) return 0;
  for (int i = 0; i < 5; i++) {
    if (i * i >= v) return i;
  }
  return 7;
}
inline int outer(int v) {
  switch (inner(v)) {
    case 0: return -1;
    case 1: return 10;
    case 2: return 20;
  }
  return inner(v - 10) + 100;
}
// body:
y[thread_position_in_grid.x] = outer(x[thread_position_in_grid.x]);
