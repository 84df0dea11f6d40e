// A SIMD-group adds the blocks of one dot product, which has `total` products, and converts the sum.
// Sums that the rung before has settled stay unwritten, and `enough` where there is none:
// anymetal: ignore-kernel[unwritten-output(out), unwritten-output(enough)]
const uint lane = thread_index_in_simdgroup, blocks = sums_shape[1];
const Pair pair = pair_of_rows(thread_position_in_grid.y, x_shape, y_shape);
if (SYMMETRIC && pair.below) return;
if (CHECKED && met[pair.result]) {
    if (lane == 0) store(enough, pair, true, SYMMETRIC);
    return;
}

const ulong first = pair.result * blocks;
const Survey found = survey_of_blocks(surveys + 2 * first, blocks, lane);
Limbs sum = {};
if (found.special == 0) {
    // At most 2^18 blocks, 2^13 per lane, of words below 2^16.
    for (uint block = lane; block < blocks; block += 32) {
        #pragma unroll
        for (int j = 0; j < LIMBS; ++j) sum.word[j] += sums[(first + block) * LIMBS + j];
    }
    carry(sum);
    add_lanes(sum);
}
if (lane == 0) {
    const Finished result = finished(sum, found, uint(total), ROOT, digits);
    store(out, pair, result.bits, SYMMETRIC);
    if (CHECKED) store(enough, pair, result.enough, SYMMETRIC);
}
