// Vectors at places that only the data tell: all the same, a run, any; for some threads; stored.
// input: x = T[404] random
// input: j = int32[101] np.r_[np.full(32, 7), np.arange(20, 52), np.arange(64, 101)[::-1]]
// output: moved = T[404]
// output: back = T[404]
// output: chosen = T[404]
// output: halves = T[202]
// output: two = T[202]
// dtypes: float32 float16 bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64
// grid: 101
// threadgroup: 64
// where: rows, at = x.reshape(101, 4), np.arange(101) * 37 % 101
// where: pairs = x.reshape(202, 2)
// where: some = (at % 3 != 0)[:, None]
// expect: moved = rows[j].reshape(404)
// expect: back = rows[np.argsort(at)].reshape(404)
// expect: chosen = np.where(some, rows[(at + 1) % 101], rows[j]).reshape(404)
// expect: halves = pairs[j * 2 + 1][:, ::-1].reshape(202)
// expect: two = np.where(some, pairs[:101], pairs[101:])[np.argsort(at)].reshape(202)
uint i = thread_position_in_grid.x, k = j[i];
uint at = (i * 37u) % 101u;  // another one for each thread
const device vec<T, 4>* rows = (const device vec<T, 4>*)x;
const device vec<T, 2>* pairs = (const device vec<T, 2>*)x;
((device vec<T, 4>*)moved)[i] = rows[k];
((device vec<T, 4>*)back)[at] = rows[i];
vec<T, 4> v;
if (at % 3u != 0u) {
  v = rows[(at + 1) % 101u];
  ((device vec<T, 2>*)two)[at] = pairs[i];
} else {
  v = rows[k];
  ((device vec<T, 2>*)two)[at] = pairs[i + 101];
}
((device vec<T, 4>*)chosen)[i] = v;
halves[2 * i] = x[4 * k + 3];
halves[2 * i + 1] = x[4 * k + 2];
