// A SIMD-group adds the blocks of one dot product.
const uint lane = thread_index_in_simdgroup, blocks = sums_shape[1];
const Pair pair = pair_of_rows(thread_position_in_grid.y, x_shape, y_shape);
if (SYMMETRIC && pair.below) return;

const auto parts = sums + 2 * pair.result * blocks;
Sum sum = {0, 0};
for (uint block = lane; block < blocks; block += 32) {
    add(sum, Sum{parts[2 * block], parts[2 * block + 1]});
}
add_lanes<true>(sum);
if (lane == 0) {
    store(out, pair, ROOT ? metal::sqrt(result_of(sum)) : result_of(sum), SYMMETRIC);
}
