// A program-scope table, indexed at run time.
// input: x = int32[64] integers(0, 7)
// output: y = int32[64]
// grid: 64
// threadgroup: 32
// expect: y = np.array([0, 1, 1, 2, 3, 5, 8, 13])[x] * 10 + 4
// header:
constant int fibonacci[8] = {0, 1, 1, 2, 3, 5, 8, 13};
constant constexpr float scale = 2.5f;
// body:
uint t = thread_position_in_grid.x;
constexpr int four = int(scale * 4) - 6;
y[t] = fibonacci[x[t]] * 10 + four;
