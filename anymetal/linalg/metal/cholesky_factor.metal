// The rows of the first strips that end on their diagonals: what a threadgroup can factor alone.
// It has a SIMD-group per strip.
// Nobody needs the strips beyond the diagonal, and they stay unwritten:
// anymetal: ignore-kernel[unwritten-output(diagonal)]
const uint height = strips_shape[2], size = strips_shape[1] * height * 32;
const uint rows = threads_per_threadgroup.x;
const uint lane = thread_index_in_simdgroup, s = simdgroup_index_in_threadgroup;
const uint matrix = threadgroup_position_in_grid.y;
const device float* from = strips + ulong(matrix) * size + s * height * 32 + lane;
device float* block = diagonal + ulong(matrix) * rows * rows;
for (uint first = 0; first < 32 * s + 32; first += 8) {
    float x[8];
    load_rows(x, from + 32 * first);
    store_rows(x, block + (s * rows + first) * 32 + lane);
}
factor_strips(block, rows, rows / 8, s, lane, BOUNDS);
