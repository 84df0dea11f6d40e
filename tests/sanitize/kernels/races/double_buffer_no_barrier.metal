// Two buffers save one of two barriers, not both.
// input: x = float32[512] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
threadgroup float tile[2][64];
uint l = thread_index_in_threadgroup;
float sum = 0;
for (uint k = 0; k < 8; ++k) {
  tile[k % 2][l] = x[k * 64 + l];  // finds: race-threadgroup (either)
  sum += tile[k % 2][63 - l];  // finds: race-threadgroup (either)
}
y[l] = sum;  // finds: undefined-output
