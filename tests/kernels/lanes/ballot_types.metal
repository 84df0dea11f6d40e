// The vote as 64-bit bits, through a cast to uint, ulong or vote_t, of full and partial SIMD-groups.
// input: x = int32[72] integers(0, 1)
// output: y = uint32[72]
// output: z = uint64[72]
// grid: 72
// threadgroup: 48
// where:
//     gang = group * 64 + simdgroup
//     bits = np.array([sum(1 << int(lane[j]) for j in range(72) if gang[j] == gang[t] and x[j]) for t in range(72)])
// expect: y = bits
// expect: z = bits * 2
uint i = thread_position_in_grid.x;
simd_vote vote = simd_ballot(x[i] == 1);
y[i] = (uint)(simd_vote::vote_t)vote;
z[i] = simd_vote::vote_t(vote) + ulong(simd_ballot(x[i] != 0));
