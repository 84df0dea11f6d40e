// One lane leaves a value for the others of its SIMD-group.
// input: x = int32[128] integers(0, 100)
// output: y = int32[128]
// grid: 128
// threadgroup: 64
// expect: y = np.repeat(x[::32], 32)
threadgroup int first[2];
uint i = thread_position_in_grid.x;
uint simdgroup = simdgroup_index_in_threadgroup;
if (thread_index_in_simdgroup == 0) {
  first[simdgroup] = x[i];  // finds: race-threadgroup (either)
}
y[i] = first[simdgroup];  // finds: race-threadgroup (either)
