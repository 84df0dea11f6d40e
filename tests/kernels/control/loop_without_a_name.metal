// LLVM forgets which loop of the text this is: who returns in the first iteration votes apart from
// those who return in the second.
// input: x = uint32[32] np.arange(32)
// output: y = uint32[32]
// grid: 32
// threadgroup: 32
// expect: y = np.where(np.arange(32) < 16, 0x0000ffff, 0xffff0000) + (np.arange(32) >> 3 & 1)
uint i = thread_position_in_grid.x;
uint a = x[i];
int n = 0;
while (true) {
  if (a >= 16u) {
    ulong v = ulong(x[a & 31u]) << 60;
    y[i] = uint(ulong(simd_ballot((a & 64u) == 0u))) + uint(v >> 63);
    return;
  } else {
    a |= 16u;
  }
  long w = long(x[a & 31u]) >> 45;
  if (++n > int(i % 5u) + 1) break;
}
