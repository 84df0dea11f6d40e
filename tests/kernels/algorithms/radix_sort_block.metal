// Sorts a block by 4 bits, in threadgroup memory, and writes runs of equal digits.
// input: x = int32[512] integers
// output: out = int32[512]
// grid: 64
// threadgroup: 32
// expect: out = np.concatenate([b[np.argsort(b & 15, kind="stable")] for b in x.reshape(2, 256)])
threadgroup uint begin[16], next[16];
threadgroup atomic_uint counts[16];
threadgroup int sorted[256];
uint lane = thread_index_in_simdgroup, block = threadgroup_position_in_grid.x * 256;
if (lane < 16) atomic_store_explicit(&counts[lane], 0, memory_order_relaxed);
simdgroup_barrier(mem_flags::mem_threadgroup);
for (uint i = lane; i < 256; i += 32) {
  atomic_fetch_add_explicit(&counts[x[block + i] & 15], 1, memory_order_relaxed);
}
simdgroup_barrier(mem_flags::mem_threadgroup);
uint count = lane < 16 ? atomic_load_explicit(&counts[lane], memory_order_relaxed) : 0;
uint start = simd_prefix_exclusive_sum(count);
if (lane < 16) begin[lane] = next[lane] = start;
simdgroup_barrier(mem_flags::mem_threadgroup);
for (uint i = lane; i < 256; i += 32) {
  int key = x[block + i];
  uint digit = key & 15, same = 0xffffffff;
  for (uint bit = 0; bit < 4; ++bit) {
    bool set = digit >> bit & 1;
    uint votes = uint(ulong(simd_ballot(set)));
    same &= set ? votes : ~votes;
  }
  uint rank = popcount(same & ((1u << lane) - 1));
  uint place = next[digit] + rank;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (rank == 0) next[digit] = place + popcount(same);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  sorted[place] = key;
}
simdgroup_barrier(mem_flags::mem_threadgroup);
for (uint d = 0; d < 16; ++d) {
  for (uint i = begin[d] + lane; i < next[d]; i += 32) out[block + i] = sorted[i];
}
