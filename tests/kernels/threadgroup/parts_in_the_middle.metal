// Lanes from the middle look at what single lanes have stored, one element at a time.
// input: x = float32[128] normal
// output: y = float32[128]
// grid: 128
// threadgroup: 64
// expect: y = np.where((lane >= 5) & (lane < 9), x[group * 64 + np.clip((lane - 5) * 16 + 3, 0, 63)], -1)
threadgroup float parts[4];
uint i = thread_position_in_grid.x, lid = thread_position_in_threadgroup.x;
for (uint k = 0; k < 4; ++k) {
  if (lid == k * 16 + 3) parts[k] = x[i];
}
threadgroup_barrier(mem_flags::mem_threadgroup);
uint lane = thread_index_in_simdgroup;
float mine = -1;
if (lane - 5 < 4) mine = parts[lane - 5];
y[i] = mine;
