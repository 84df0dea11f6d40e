// Static constant members as tables of a class template.
// input: x = int32[32] integers(0, 3)
// output: y = int32[32]
// grid: 32
// expect: y = np.array([4, 5, 6, 7])[x] + 8
// header:
template <int N>
struct Table {
  static constexpr constant int values[4] = {N, N + 1, N + 2, N + 3};
  static constant constexpr int size = 2 * N;
};
// body:
uint t = thread_position_in_grid.x;
y[t] = Table<4>::values[x[t]] + Table<4>::size;
