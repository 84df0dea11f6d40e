// Groups of four lanes.
// input: x = int32[48] integers
// output: total = int32[48]
// output: swapped = int32[48]
// output: scan = int32[48]
// output: votes = uint32[48]
// grid: 48
// threadgroup: 48
// where:
//     quads = x.reshape(12, 4)
//     word = ((quads > 0) * [1, 2, 4, 8]).sum(axis=1)
// expect: total = quads.sum(axis=1).repeat(4)
// expect: swapped = quads[:, [1, 0, 3, 2]]
// expect: scan = np.cumsum(quads, axis=1)
// expect: votes = word.repeat(4)
uint i = thread_position_in_grid.x;
total[i] = quad_sum(x[i]);
swapped[i] = quad_shuffle_xor(x[i], 1);
scan[i] = quad_prefix_inclusive_sum(x[i]);
votes[i] = (uint)(quad_vote::vote_t)quad_ballot(x[i] > 0);
