// Which lanes have the same digit, by a vote for each bit; in the second row some lanes do not vote.
// input: x = int32[96] integers
// output: same = uint32[96]
// output: rank = uint32[96]
// grid: 96
// threadgroup: 32
// init: 0
// where:
//     digit = (x & 15).reshape(3, 32)
//     votes = np.ones((3, 32), bool)
//     votes[1] = x.reshape(3, 32)[1] > 0
//     equal = (digit[:, :, None] == digit[:, None, :]) & votes[:, :, None] & votes[:, None, :]
//     bits = np.uint64(1) << np.arange(32, dtype=np.uint64)
//     before = np.tril(np.ones((32, 32), bool), -1)
// expect: same = (equal * bits).sum(axis=2).reshape(-1)
// expect: rank = (equal & before).sum(axis=2).reshape(-1)
uint i = thread_position_in_grid.x;
uint digit = x[i] & 15;
if (i / 32 != 1 || x[i] > 0) {
  uint lanes = 0xffffffff;
  for (uint bit = 0; bit < 4; ++bit) {
    bool set = digit >> bit & 1;
    uint votes = uint(ulong(simd_ballot(set)));
    lanes &= set ? votes : ~votes;
  }
  lanes &= uint(ulong(simd_active_threads_mask()));
  same[i] = lanes;
  rank[i] = popcount(lanes & ((1u << (i % 32)) - 1));
}
