// A SIMD-group adds one block of the products of a pair of rows: a float, and one for the errors.
const uint lane = thread_index_in_simdgroup, count = x_shape[2];
const uint block = thread_position_in_grid.z, blocks = threads_per_grid.z;
const Pair pair = pair_of_rows(thread_position_in_grid.y, x_shape, y_shape);
if (SYMMETRIC && pair.below) return;

const auto left = x + pair.left;
const auto right = y + pair.right;
const uint begin = block * BLOCK, end = begin + metal::min(count - begin, uint(BLOCK));
Sum sum = {0, 0};
for (uint i = begin + lane; i < end; i += 32) add_product<COMPENSATED>(sum, left[i], right[i]);
add_lanes<COMPENSATED>(sum);

if (lane != 0) return;
if (blocks > 1) {
    const ulong place = pair.result * blocks + block;
    out[2 * place] = sum.sum;
    out[2 * place + 1] = sum.error;
} else {
    store(out, pair, ROOT ? metal::sqrt(result_of(sum)) : result_of(sum), SYMMETRIC);
}
