// Two buffers, and the wrong one is filled.
// input: x = float32[512] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
threadgroup float tile[2][64];
uint l = thread_index_in_threadgroup;
float sum = 0;
tile[0][l] = x[l];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint k = 0; k < 8; ++k) {
  if (k < 7) {
    tile[k % 2][l] = x[(k + 1) * 64 + l];  // finds: race-threadgroup (either)
  }
  for (uint j = 0; j < 64; ++j) {
    sum += tile[k % 2][j];  // finds: race-threadgroup (either)
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
}
y[l] = sum;  // finds: undefined-output
