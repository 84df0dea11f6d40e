// The triangle of a matrix as strips, with the identity beyond its end. A SIMD-group per eight rows of
// a strip. Nobody needs the strips beyond the diagonal, and they stay unwritten:
// anymetal: ignore-kernel[unwritten-output(strips)]
const uint n = a_shape[a_ndim - 1];
const uint height = (n + 31) / 32 * 32;
const uint lane = thread_index_in_simdgroup;
const uint s = threadgroup_position_in_grid.x, first = 8 * threadgroup_position_in_grid.y;
const uint matrix = threadgroup_position_in_grid.z;
if (first > 32 * s + 31) {
    return;
}
auto from = a + ulong(matrix) * n * n;
float x[8];
load_scaled(x, from, n, first, 32 * s + lane);
store_rows(x, strips + ulong(matrix) * height * height + (s * height + first) * 32 + lane);
