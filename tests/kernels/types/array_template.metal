// array<T, N>: size, elements, copies, passing by value, loops over it, constant tables.
// dtypes: float32 float16 int32 uint8
// input: x = T[20, 4] integers(0, 25)
// output: y = T[20, 5]
// grid: 20
// threadgroup: 16
// expect: y = np.stack([x.sum(1), x[:, 3], x[:, 0] * 2, x[:, 1] * 0 + 9, x[:, 2] + 30], axis=1).astype(x.dtype)
// header:
template <typename U, size_t N>
U total(array<U, N> values) {
  U sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += values[i];
  return sum;
}
constant array<int, 3> table = {10, 20, 30};
// body:
uint i = thread_position_in_grid.x;
array<T, 4> a = {x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]};
array<T, 4> b = a;
b[0] *= 2;
b.fill(T(9));
b.front() = a.at(0) + a[0];
y[5 * i] = total(a);
y[5 * i + 1] = a.back();
y[5 * i + 2] = b[0];
y[5 * i + 3] = b[1];
y[5 * i + 4] = a[2] + T(table[2]);
