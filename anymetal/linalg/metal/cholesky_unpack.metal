// From panels to the factor as the caller has it, a SIMD-group per 32 rows of it. PANEL(p) is panel p.
const uint block = panel0_shape[2];
const uint n = a_shape[a_ndim - 1], count = (n + 31) / 32;
const uint lane = thread_index_in_simdgroup;
const uint s = threadgroup_position_in_grid.x, matrix = threadgroup_position_in_grid.y;
auto matrix_a = a + ulong(matrix) * n * n;
device float* to = out + ulong(matrix) * n * n;

const uint last = n - 1;
const ulong end = in_panel(last, last / 32, matrix, count, block) + last % 32;
const bool failed = metal::isnan(PANEL(last / block)[end]);
for (uint t = 0; t < count; ++t) {  // columns of the result, 32 at a time
    const uint j = 32 * t + lane;
    const uint row = 32 * metal::min(s, t);  // of U, from which on the tile comes
    const device float* tile =
        PANEL(row / block) + in_panel(row, metal::max(s, t), matrix, count, block);
    for (uint i = 32 * s; i < metal::min(32 * s + 32, n); ++i) {
        float value = 0;
        if (j < n && (UPPER ? j >= i : j <= i)) {
            value = UPPER ? tile[32 * (i % 32) + lane] : tile[32 * lane + i % 32];
            value *= power_of_two(-exponent_of(matrix_a, n, UPPER ? j : i));
            value = failed ? NAN : value;
        }
        if (j < n) {
            to[i * n + j] = value;
        }
    }
}
#ifdef CHECKED
if (s == 0) {
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
