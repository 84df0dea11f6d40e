// MLX's assignment of row tiles to groups of rows: its matrix products by expert use it.
#pragma once

// Group g has the rows offsets[g] … offsets[g + 1] - 1, the last one those up to M, and is cut into
// tiles of BM rows, of which the last one may be shorter. Says which group tile number `tile` is
// of, its first row and how many rows it has; false if there are fewer tiles. All lanes of the
// SIMD-group ask for the same tile: each of them counts the tiles of every 32nd group.
template <int BM>
inline bool schedule_row_tile(const device int32_t* offsets, int num_groups, int M, int tile,
                              uint lane, thread int& row, thread int& group, thread short& rows) {
  int earlier = 0;
  for (int first = 0; first < num_groups; first += __am::simd_width) {
    const int mine = first + int(lane);
    const int begin = mine < num_groups ? offsets[mine] : M;
    const int end = mine + 1 < num_groups ? offsets[mine + 1] : M;
    const int tiles = ceildiv(end - begin, BM);
    const int through = earlier + simd_prefix_inclusive_sum(tiles);
    const uint behind = __am_ballot(through > tile);
    if (behind != 0) {
      const uint owner = ctz(behind);
      const int skipped = tile - __am::shuffle(through - tiles, owner);
      group = first + int(owner);
      row = __am::shuffle(begin, owner) + skipped * BM;
      rows = short(min(BM, __am::shuffle(end, owner) - row));
      return true;
    }
    earlier = __am::shuffle(through, __am::simd_width - 1);
  }
  return false;
}
