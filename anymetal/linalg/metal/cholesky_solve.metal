// The same rows of the other strips, a SIMD-group each; those of the diagonal are copied.
const uint height = strips_shape[2], count = strips_shape[1];
const uint rows = diagonal_shape[2];
const uint lane = thread_index_in_simdgroup;
const uint s = threadgroup_position_in_grid.x, matrix = threadgroup_position_in_grid.y;
const device float* block = diagonal + ulong(matrix) * rows * rows;
const device float* from = strips + ulong(matrix) * count * height * 32 + s * height * 32 + lane;
device float* mine = panel + ulong(matrix) * count * rows * 32 + s * rows * 32 + lane;
if (s < rows / 32) {
    for (uint row = 0; row < rows; ++row) {
        mine[32 * row] = block[(s * rows + row) * 32 + lane];
    }
    return;
}
for (uint first = 0; first < rows; first += 8) {
    const device float* u = block + first / 32 * rows * 32 + first % 32;
    float x[8];
    load_rows(x, from + 32 * first);
    subtract_products(x, u, mine, first);
    solve_rows(x, u + 32 * first);
    store_rows(x, mine + 32 * first);
}
