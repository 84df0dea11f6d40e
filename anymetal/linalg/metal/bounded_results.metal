// A SIMD-group adds the blocks of one dot product, and says whether it is within the tolerance.
// Sums that the rung before has settled stay unwritten:
// anymetal: ignore-kernel[unwritten-output(out)]
const uint lane = thread_index_in_simdgroup, blocks = parts_shape[1];
const Pair pair = pair_of_rows(thread_position_in_grid.y, x_shape, y_shape);
if (SYMMETRIC && pair.below) return;
if (CHECKED && met[pair.result]) {
    if (lane == 0) store(enough, pair, true, SYMMETRIC);
    return;
}

const auto part = parts + 4 * pair.result * blocks;
Bounded sum = {{0, 0}, 0, 0};
for (uint block = lane; block < blocks; block += 32) {
    const auto next = part + 4 * block;
    add<COMPENSATED>(sum, {{next[0], next[1]}, next[2], as_type<uint>(next[3])});
}
add_lanes<COMPENSATED>(sum);
if (lane == 0) {
    const float result = sum.sum.sum + sum.sum.error;
    store(out, pair, ROOT ? metal::sqrt(result) : result, SYMMETRIC);
    store(enough, pair, is_within(sum, result, limits), SYMMETRIC);
}
