// Mean and variance of rows: the second sum has a buffer of its own, but not in every row.
// input: x = float32[4, 64] normal
// output: y = float32[4, 64]
// grid: 64
// threadgroup: 64
threadgroup float sums[2];
threadgroup float squares[2];
uint l = thread_index_in_threadgroup;
uint lane = thread_index_in_simdgroup;
uint simdgroup = simdgroup_index_in_threadgroup;
for (uint row = 0; row < 4; ++row) {
  float v = x[row * 64 + l];
  float sum = simd_sum(v);
  float square = simd_sum(v * v);
  if (lane == 0) {
    sums[simdgroup] = sum;  // finds: race-threadgroup (either)
    squares[simdgroup] = square;  // finds: race-threadgroup (either)
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float mean = (sums[0] + sums[1]) / 64;  // finds: race-threadgroup (either)
  float var = (squares[0] + squares[1]) / 64 - mean * mean;  // finds: race-threadgroup (either)
  y[row * 64 + l] = (v - mean) * rsqrt(var + 1e-5f);
}
