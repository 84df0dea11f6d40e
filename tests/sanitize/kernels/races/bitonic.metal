// A sorting network: each round has to wait for the one before.
// input: x = int32[64] integers(0, 99)
// output: y = int32[64]
// grid: 64
// threadgroup: 64
threadgroup int t[64];
uint l = thread_index_in_threadgroup;
t[l] = x[l];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint k = 2; k <= 64; k *= 2) {
  for (uint j = k / 2; j > 0; j /= 2) {
    uint other = l ^ j;
    if (other > l) {
      int a = t[l];  // finds: race-threadgroup (either)
      int b = t[other];  // finds: race-threadgroup (either)
      if ((l & k) == 0 ? a > b : a < b) {
        t[l] = b;  // finds: race-threadgroup (either)
        t[other] = a;  // finds: race-threadgroup (either)
      }
    }
  }
}
threadgroup_barrier(mem_flags::mem_threadgroup);
y[l] = t[l];
