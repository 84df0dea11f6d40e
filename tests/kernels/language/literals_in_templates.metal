// Literals without a suffix are float, in kernels and functions that are templates, too.
// dtypes: float32
// input: x = T[96] normal
// output: y = T[96]
// output: z = T[96]
// output: size = uint32[96]
// grid: 96
// threadgroup: 32
// expect: y = x * np.float32(0.1)
// expect: z = np.maximum(x * np.float32(1 / 3), np.float32(1.0e-1))
// expect: size = np.full(96, 4 + 64 + 1024)
// header:
template <typename U>
U tenth(U v) {
  return v * 0.1;
}
template <typename U>
uint bytes(U v) {
  return sizeof(v * 1.5e-3) + 16 * sizeof(.5) + 256 * sizeof(1.);
}
#define THIRD 0.3333333333333333
// body:
uint i = thread_position_in_grid.x;
y[i] = tenth(x[i]);
z[i] = metal::max(x[i] * THIRD, 1.0e-1);
size[i] = bytes(x[i]);
