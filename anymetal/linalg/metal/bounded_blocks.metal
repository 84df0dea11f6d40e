// A SIMD-group adds one block of the products of a pair of rows, with what bounds its error.
const uint lane = thread_index_in_simdgroup, count = x_shape[2];
const uint block = thread_position_in_grid.z, blocks = threads_per_grid.z;
const Pair pair = pair_of_rows(thread_position_in_grid.y, x_shape, y_shape);
if ((SYMMETRIC && pair.below) || (CHECKED && met[pair.result])) return;

const auto left = x + pair.left;
const auto right = y + pair.right;
const uint begin = block * BLOCK, end = begin + metal::min(count - begin, uint(BLOCK));
Bounded sum = {{0, 0}, 0, 0};
for (uint i = begin + lane; i < end; i += 32) add_product<COMPENSATED>(sum, left[i], right[i]);
add_lanes<COMPENSATED>(sum);
if (lane == 0) {
    const ulong place = 4 * (pair.result * blocks + block);
    parts[place] = sum.sum.sum;
    parts[place + 1] = sum.sum.error;
    parts[place + 2] = sum.magnitudes;
    parts[place + 3] = as_type<float>(sum.largest);
}
