// A volatile variable is no atomic.
// output: y = int32[64]
// grid: 64
// threadgroup: 64
threadgroup volatile int done;
uint l = thread_index_in_threadgroup;
if (l == 32) {
  done = 7;  // finds: race-threadgroup (either)
}
int seen = done;  // finds: race-threadgroup (either)
y[l] = seen > 0 ? 1 : 0;  // finds: undefined-output
