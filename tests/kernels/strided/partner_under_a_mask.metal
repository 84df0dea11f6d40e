// A sorting network whose threads with the lower index do the work of a pair: rows of memory that
// belong to lanes in another order, read and written by some of them.
// input: x = float32[3, 256] normal
// output: y = float32[3, 256]
// grid: 256 3
// threadgroup: 256
// expect: y = np.sort(x, 1)
threadgroup float s[256];
uint t = thread_position_in_threadgroup.x, row = thread_position_in_grid.y * 256;
s[t] = x[row + t];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint k = 2; k <= 256; k *= 2) {
  for (uint j = k / 2; j; j /= 2) {
    uint p = t ^ j;
    if (p > t) {
      float a = s[t], b = s[p];
      if ((a > b) == !(t & k)) {
        s[t] = b;
        s[p] = a;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}
y[row + t] = s[t];
