// SIMD-groups vote, and one thread writes the byte.
// input: x = float32[256] normal
// output: y = uint8[32]
// grid: 256
// threadgroup: 256
// init: 0
uint i = thread_position_in_grid.x;
simd_vote v = simd_ballot(x[i] > 0);
uint word = uint(simd_vote::vote_t(v));
if (thread_index_in_simdgroup < 4) {
  y[i / 32 * 4 + thread_index_in_simdgroup] = word >> (8 * thread_index_in_simdgroup);
}
