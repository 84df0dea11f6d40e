// The barrier stands in front of the store, none stands behind it.
// input: x = float32[256] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
threadgroup float tile[64];
uint l = thread_index_in_threadgroup;
float sum = 0;
for (uint k = 0; k < 4; ++k) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  tile[l] = x[k * 64 + l];  // finds: race-threadgroup (either)
  for (uint j = 0; j < 64; ++j) {
    sum += tile[j] * (j + l);  // finds: race-threadgroup (either)
  }
}
y[l] = sum;  // finds: undefined-output
