// The second SIMD-group of 48 threads has 16 lanes.
// input: x = float32[48] normal
// output: y = float32[2]
// grid: 48
// threadgroup: 48
float v = x[thread_position_in_grid.x];
for (ushort d = 16; d > 0; d /= 2) {
  v += simd_shuffle_down(v, d);  // finds: shuffle-inactive
}
if (thread_index_in_simdgroup == 0) y[simdgroup_index_in_threadgroup] = v;
