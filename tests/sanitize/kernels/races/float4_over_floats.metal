// A float4 is written over what other threads write as floats.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint l = thread_index_in_threadgroup;
y[l] = x[l];  // finds: race-device (either)
if (l < 8) {
  ((device float4*)y)[l] = ((const device float4*)x)[l];  // finds: race-device (either)
}
