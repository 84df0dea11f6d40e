// A SIMD-group adds one block of the products of a pair of rows, in the window of all blocks. The
// sum has `total` products: more than there are here if other machines have some of them.
// Sums that the rung before has settled stay unwritten:
// anymetal: ignore-kernel[unwritten-output(sums)]
const uint lane = thread_index_in_simdgroup, count = x_shape[2];
const uint block = thread_position_in_grid.z, blocks = threads_per_grid.z;
const Pair pair = pair_of_rows(thread_position_in_grid.y, x_shape, y_shape);
if ((SYMMETRIC && pair.below) || (CHECKED && met[pair.result])) return;

const ulong first = pair.result * blocks;
const Survey found = survey_of_blocks(surveys + 2 * first, blocks, lane);
if (found.special != 0) return;

const uint begin = block * BLOCK, end = begin + metal::min(count - begin, uint(BLOCK));
const int bottom = window_bottom(found.exponent, uint(total));
const Limbs sum = add_products(x + pair.left, y + pair.right, begin, end, bottom, lane);
for (uint j = lane; j < LIMBS; j += 32) sums[(first + block) * LIMBS + j] = sum.word[j];
