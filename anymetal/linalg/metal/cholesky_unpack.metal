// From panels to the factor as the caller has it, a SIMD-group per eight rows of a tile
// of 32 × 32. PANEL(p) is panel p.
const uint block = panel0_shape[2];
const uint n = a_shape[a_ndim - 1], count = (n + 31) / 32;
const uint lane = thread_index_in_simdgroup, matrix = threadgroup_position_in_grid.z;
const uint t = threadgroup_position_in_grid.x, first = 8 * threadgroup_position_in_grid.y;
const uint s = first / 32;
auto matrix_a = a + ulong(matrix) * n * n;
device float* to = out + ulong(matrix) * n * n;

const uint last = n - 1;
const ulong end = in_panel(last, last / 32, matrix, count, block) + last % 32;
const bool failed = metal::isnan(PANEL(last / block)[end]);
const uint j = 32 * t + lane;            // column of the result
const uint row = 32 * metal::min(s, t);  // of U, from which on the tile comes
const device float* tile =
    PANEL(row / block) + in_panel(row, metal::max(s, t), matrix, count, block);
float x[8];
#pragma unroll
for (uint r = 0; r < 8; ++r) {
    const uint i = first + r;
    const bool inside = UPPER ? j >= i : j <= i;
    x[r] = 0;
    if (i < n && j < n && inside) {
        x[r] = UPPER ? tile[32 * (i % 32) + lane] : tile[32 * lane + i % 32];
        x[r] *= power_of_two(-exponent_of(matrix_a, n, UPPER ? j : i));
        x[r] = failed ? NAN : x[r];
    }
}
#pragma unroll
for (uint r = 0; r < 8; ++r) {
    if (first + r < n && j < n) {
        to[(first + r) * n + j] = x[r];
    }
}
#ifdef CHECKED
if (first == 0 && t == 0) {
    uint pivot = 0;
    while (failed) {
        const ulong place = in_panel(pivot, pivot / 32, matrix, count, block) + pivot % 32;
        if (metal::isnan(PANEL(pivot / block)[place])) {
            break;
        }
        ++pivot;
    }
    if (lane == 0) info[matrix] = failed ? pivot + 1 : 0;
}
#endif
