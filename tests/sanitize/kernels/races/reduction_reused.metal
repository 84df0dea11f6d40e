// The buffer of a first sum takes a second one, while others still read the first.
// input: x = float32[256] normal
// output: y = float32[256]
// grid: 256
// threadgroup: 128
threadgroup float sums[4];
uint i = thread_position_in_grid.x;
uint lane = thread_index_in_simdgroup;
uint simdgroup = simdgroup_index_in_threadgroup;
float v = x[i];
float sum = simd_sum(v);
if (lane == 0) {
  sums[simdgroup] = sum;
}
threadgroup_barrier(mem_flags::mem_threadgroup);
float mean = 0;
for (uint k = 0; k < 4; ++k) {
  mean += sums[k] / 128;  // finds: race-threadgroup (either)
}
float square = simd_sum((v - mean) * (v - mean));
if (lane == 0) {
  sums[simdgroup] = square;  // finds: race-threadgroup (either)
}
threadgroup_barrier(mem_flags::mem_threadgroup);
float variance = 0;
for (uint k = 0; k < 4; ++k) {
  variance += sums[k] / 128;
}
y[i] = (v - mean) * rsqrt(variance + 1e-5f);
