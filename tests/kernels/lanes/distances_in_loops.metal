// A scan by doubling distances, as kernels without prefix functions write it.
// dtypes: float32 int32 uint8
// input: x = T[96] integers(0, 2)
// output: y = T[96]
// grid: 96
// threadgroup: 96
// expect: y = np.cumsum(x.reshape(3, 32), axis=1).astype(x.dtype)
uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup;
T sum = x[i];
for (ushort step = 1; step < 32; step *= 2) {
  T below = simd_shuffle_up(sum, step);
  if (lane >= step) sum += below;
}
y[i] = sum;
