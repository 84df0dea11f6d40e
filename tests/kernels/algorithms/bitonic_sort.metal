// A sorting network in threadgroup memory.
// input: x = float32[256] normal
// output: y = float32[256]
// grid: 256
// threadgroup: 256
// expect: y = np.sort(x)
threadgroup float v[256];
uint i = thread_position_in_threadgroup.x;
v[i] = x[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint size = 2; size <= 256; size <<= 1) {
  for (uint stride = size >> 1; stride > 0; stride >>= 1) {
    uint partner = i ^ stride;
    float mine = v[i];
    float other = v[partner];
    bool ascending = (i & size) == 0;
    bool lower = i < partner;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    v[i] = (lower == ascending) ? min(mine, other) : max(mine, other);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}
y[i] = v[i];
