// Who is here: in a partial group, inside branches, in a loop that lanes leave one by one.
// output: y = uint32[40, 3]
// grid: 40
// threadgroup: 40
// where:
//     def mask(keep): return sum(1 << j for j in range(32) if keep(j))
//     whole = np.where(tid < 32, 2 ** 32 - 1, 255)
//     odd = np.where(tid < 32, np.where(tid % 2, mask(lambda j: j % 2), mask(lambda j: j % 2 == 0)), np.where(tid % 2, 0xaa, 0x55))
//     left = np.array([sum(1 << j for j in range(32 if t < 32 else 8) if j >= (t % 32)) for t in range(40)])
// expect: y = np.stack([whole, odd, left], axis=1)
uint i = thread_position_in_grid.x;
uint lane = thread_index_in_simdgroup;
y[3 * i] = (uint)(simd_vote::vote_t)simd_active_threads_mask();
if (lane % 2) y[3 * i + 1] = (uint)(ulong)simd_active_threads_mask();
else y[3 * i + 1] = (uint)(ulong)simd_active_threads_mask();
for (uint iteration = 0; iteration <= lane; ++iteration) y[3 * i + 2] = (uint)(ulong)simd_active_threads_mask();
