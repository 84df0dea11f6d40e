// A SIMD-group looks at one block of the products of a pair of rows.
// Sums that the rung before has settled stay unwritten:
// anymetal: ignore-kernel[unwritten-output(surveys)]
const uint lane = thread_index_in_simdgroup, count = x_shape[2];
const uint block = thread_position_in_grid.z, blocks = threads_per_grid.z;
const Pair pair = pair_of_rows(thread_position_in_grid.y, x_shape, y_shape);
if ((SYMMETRIC && pair.below) || (CHECKED && met[pair.result])) return;

const uint begin = block * BLOCK, end = begin + metal::min(count - begin, uint(BLOCK));
const Survey found = survey(x + pair.left, y + pair.right, begin, end, lane);
if (lane == 0) {
    const ulong place = pair.result * blocks + block;
    surveys[2 * place] = found.exponent;
    surveys[2 * place + 1] = found.special;
}
