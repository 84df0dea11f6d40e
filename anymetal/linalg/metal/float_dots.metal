// A SIMD-group adds one block of the products of a pair of rows: a float, and one for the errors.
const uint lane = thread_index_in_simdgroup, count = x_shape[2];
const uint block = thread_position_in_grid.z, blocks = threads_per_grid.z;
const Pair pair = pair_of_rows(thread_position_in_grid.y, x_shape, y_shape);
if (SYMMETRIC && pair.below) return;

const uint begin = block * BLOCK, end = begin + metal::min(count - begin, uint(BLOCK));
const Sum sum =
    add_products<Sum, COMPENSATED>(x + pair.left, y + pair.right, begin, end, lane);

if (lane != 0) return;
if (blocks > 1) {
    const ulong place = pair.result * blocks + block;
    out[2 * place] = sum.sum;
    out[2 * place + 1] = sum.error;
} else {
    store(out, pair, ROOT ? metal::sqrt(result_of(sum)) : result_of(sum), SYMMETRIC);
}
