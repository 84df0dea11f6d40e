// Four bits a quad: ballot, active mask, all, any, the first lane, in whole and partial quads.
// input: x = int32[46] integers(0, 9)
// output: y = uint32[46, 6]
// grid: 46
// threadgroup: 46
// where:
//     at = tid // 4 * 4
//     ballot = np.array([sum((x[j] % 2) << (j - a) for j in range(a, min(a + 4, 46))) for a in at])
//     here = np.where(at == 44, 3, 15)
// expect: y = np.stack([ballot, here, ballot == here, ballot > 0, tid % 4 == 0, (here == 15) & (ballot > 0)], axis=1)
uint i = thread_position_in_grid.x;
bool odd = x[i] % 2 != 0;
y[6 * i] = (uint)(quad_vote::vote_t)quad_ballot(odd);
y[6 * i + 1] = (uint)(ulong)quad_active_threads_mask();
y[6 * i + 2] = quad_all(odd);
y[6 * i + 3] = quad_any(odd);
y[6 * i + 4] = quad_is_first();
y[6 * i + 5] = quad_ballot(true).all() && quad_ballot(odd).any();
