// SIMD functions inside of functions and templates.
// dtypes: float32 int32
// input: x = T[64] integers(-9, 9)
// output: y = T[64]
// grid: 64
// threadgroup: 64
// expect: y = (x.reshape(2, 32) - x.reshape(2, 32).max(axis=1, keepdims=True)).astype(x.dtype)
// header:
template <typename U>
U largest(U value) {
  for (ushort step = 1; step < 32; step <<= 1) value = max(value, simd_shuffle_xor(value, step));
  return value;
}
// body:
uint i = thread_position_in_grid.x;
y[i] = x[i] - largest(x[i]);
