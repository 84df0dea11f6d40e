// Helpers that take threadgroup arrays by reference, of one and of two dimensions.
// input: x = float32[64] integers(-9, 9)
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// expect: y = x.reshape(2, 4, 8)[:, ::-1, :].ravel() + np.repeat(x.reshape(2, 32).sum(1), 32)
// header:
template <int N>
float total(threadgroup float (&v)[N]) {
  float sum = 0;
  for (int i = 0; i < N; i++) sum += v[i];
  return sum;
}
template <typename T, int R, int C>
void put(threadgroup T (&tile)[R][C], uint i, T v) { tile[R - 1 - i / C][i % C] = v; }
// body:
threadgroup float flat[32];
threadgroup float tile[4][8];
const uint l = thread_index_in_threadgroup, t = thread_position_in_grid.x;
flat[l] = x[t];
put(tile, l, x[t]);
threadgroup_barrier(mem_flags::mem_threadgroup);
y[t] = tile[l / 8][l % 8] + total(flat);
