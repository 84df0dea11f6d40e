// vote.all() asks all 32 lanes, active or not; simd_all only those that are here.
// output: y = bool[70, 6]
// grid: 70
// threadgroup: 70
// where:
//     full, yes = tid < 64, tid >= 0
// expect: y = np.stack([full, yes, ~yes, yes, lane % 2 == 0, yes], axis=1)
uint i = thread_position_in_grid.x;
uint lane = thread_index_in_simdgroup;
device bool* row = y + 6 * i;
row[0] = simd_ballot(true).all();
row[1] = simd_ballot(true).any();
if (lane < 20) row[2] = simd_ballot(true).all(), row[3] = simd_all(true);
else row[2] = simd_ballot(true).all(), row[3] = simd_all(lane >= 20);
if (lane % 2 == 0) row[4] = simd_all(lane % 2 == 0), row[5] = simd_any(lane < 70);
else row[4] = simd_any(lane % 2 == 0), row[5] = simd_all(lane % 2 == 1);
