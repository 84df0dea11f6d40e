// The missing barrier is in a function.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// header:
inline float total(threadgroup float* t, float v, uint l) {
  t[l] = v;  // finds: race-threadgroup (either)
  float sum = 0;
  for (uint k = 0; k < 64; ++k) {
    sum += t[k];  // finds: race-threadgroup (either)
  }
  return sum;
}
// body:
threadgroup float t[64];
uint l = thread_index_in_threadgroup;
y[l] = total(t, x[l], l);  // finds: undefined-output
