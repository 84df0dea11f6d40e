// Two calls of one function with one argument, which must not be merged.
// input: x = int32[32] integers
// output: y = int32[32]
// grid: 32
// threadgroup: 32
// expect: y = np.where(x > 0, x[x > 0].sum(), x[x <= 0].sum())
uint i = thread_position_in_grid.x;
int sum;
if (x[i] > 0) {
  sum = simd_sum(x[i]);
} else {
  sum = simd_sum(x[i]);
}
y[i] = sum;
