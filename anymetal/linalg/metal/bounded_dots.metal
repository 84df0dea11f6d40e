// A SIMD-group for one dot product and for whether it is within the tolerance.
// Sums that the rung before has settled stay unwritten:
// anymetal: ignore-kernel[unwritten-output(out)]
const uint lane = thread_index_in_simdgroup, count = x_shape[2];
const Pair pair = pair_of_rows(thread_position_in_grid.y, x_shape, y_shape);
if (SYMMETRIC && pair.below) return;
if (CHECKED && met[pair.result]) {
    if (lane == 0) store(enough, pair, true, SYMMETRIC);
    return;
}

const Bounded sum = add_products<Bounded, COMPENSATED>(x + pair.left, y + pair.right, 0, count, lane);
if (lane == 0) {
    const float result = sum.sum.sum + sum.sum.error;
    store(out, pair, ROOT ? metal::sqrt(result) : result, SYMMETRIC);
    store(enough, pair, is_within(sum, result, limits), SYMMETRIC);
}
