// Macros defined inside the body, some over several lines.
// input: x = float32[50] integers
// output: y = float32[50]
// grid: 50
// threadgroup: 32
// expect: y = np.where(x > 0, x * x + 1, -x)
#define SQUARE(v) ((v) * (v))
#define STORE(where, what) \
  do {                     \
    y[where] = (what);     \
  } while (0)
uint t = thread_position_in_grid.x;
if (x[t] > 0) STORE(t, SQUARE(x[t]) + 1);
else STORE(t, -x[t]);
#undef SQUARE
