// A SIMD-group adds one block of the products of a pair of rows, with what bounds its error.
// Sums that the rung before has settled stay unwritten:
// anymetal: ignore-kernel[unwritten-output(parts)]
const uint lane = thread_index_in_simdgroup, count = x_shape[2];
const uint block = thread_position_in_grid.z, blocks = threads_per_grid.z;
const Pair pair = pair_of_rows(thread_position_in_grid.y, x_shape, y_shape);
if ((SYMMETRIC && pair.below) || (CHECKED && met[pair.result])) return;

const uint begin = block * BLOCK, end = begin + metal::min(count - begin, uint(BLOCK));
const Bounded sum =
    add_products<Bounded, COMPENSATED>(x + pair.left, y + pair.right, begin, end, lane);
if (lane == 0) {
    const ulong place = 4 * (pair.result * blocks + block);
    parts[place] = sum.sum.sum;
    parts[place + 1] = sum.sum.error;
    parts[place + 2] = sum.magnitudes;
    parts[place + 3] = as_type<float>(sum.largest);
}
