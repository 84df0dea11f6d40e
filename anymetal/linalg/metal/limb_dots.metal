// A SIMD-group for one dot product, from the survey to the float.
// Sums that the rung before has settled stay unwritten, and `enough` where there is none:
// anymetal: ignore-kernel[unwritten-output(out), unwritten-output(enough)]
const uint lane = thread_index_in_simdgroup, count = x_shape[2];
const Pair pair = pair_of_rows(thread_position_in_grid.y, x_shape, y_shape);
if (SYMMETRIC && pair.below) return;
if (CHECKED && met[pair.result]) {
    if (lane == 0) store(enough, pair, true, SYMMETRIC);
    return;
}

const auto left = x + pair.left;
const auto right = y + pair.right;
const Survey found = survey(left, right, 0, count, lane);
Limbs sum = {};
if (found.special == 0) {
    sum = add_products(left, right, 0, count, window_bottom(found.exponent, count), lane);
}
if (lane == 0) {
    const Finished result = finished(sum, found, count, ROOT, digits);
    store(out, pair, result.bits, SYMMETRIC);
    if (CHECKED) store(enough, pair, result.enough, SYMMETRIC);
}
