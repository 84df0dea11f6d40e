// Two branches write one element, each from other threads.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// init: 0
uint l = thread_index_in_threadgroup;
if (l < 32) {
  y[l] = x[l];  // finds: race-device (either)
} else {
  y[l - 32] = x[l];  // finds: race-device (either)
}
