// Votes of the active lanes only.
// input: x = int32[64] integers
// output: bits = uint32[64]
// output: flags = int32[64]
// grid: 64
// threadgroup: 64
// init: 0
// where:
//     i = np.arange(64) % 32
//     mask = ((x > 0) & (i >= 8)).reshape(2, 32)
//     word = (mask * (1 << np.arange(32, dtype=np.int64))).sum(axis=1).repeat(32)
//     every = (x > -90).reshape(2, 32)[:, 8:].all(axis=1).repeat(32)
//     some = (x > 90).reshape(2, 32)[:, 8:].any(axis=1).repeat(32)
// expect: bits = np.where(i >= 8, word, 0)
// expect: flags = np.where(i >= 8, every * 2 + some + (i == 8) * 4, 0)
uint i = thread_position_in_grid.x;
if (thread_index_in_simdgroup >= 8) {
  bits[i] = (uint)(simd_vote::vote_t)simd_ballot(x[i] > 0);
  flags[i] = (simd_all(x[i] > -90) ? 2 : 0) + (simd_any(x[i] > 90) ? 1 : 0);
  if (simd_is_first()) flags[i] += 4;
}
