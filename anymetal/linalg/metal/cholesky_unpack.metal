// From panels to the factor as the caller has it, a SIMD-group per 32 rows of it.
const uint n = a_shape[a_ndim - 1], count = (n + 31) / 32;
const uint lane = thread_index_in_simdgroup;
const uint first = 32 * threadgroup_position_in_grid.x, matrix = threadgroup_position_in_grid.y;
const device float* from = panels + ulong(matrix) * panels_shape[1];
auto matrix_a = a + ulong(matrix) * n * n;
device float* to = out + ulong(matrix) * n * n;

const bool failed = metal::isnan(from[in_panels(n - 1, n - 1, count, BLOCK)]);
for (uint i = first; i < metal::min(first + 32, n); ++i) {
    for (uint j = lane; j < n; j += 32) {
        float value = 0;
        if (UPPER ? j >= i : j <= i) {
            const uint k = metal::min(i, j), column = metal::max(i, j);
            const float back = power_of_two(-exponent_of(matrix_a, n, column));
            value = failed ? NAN : from[in_panels(k, column, count, BLOCK)] * back;
        }
        to[i * n + j] = value;
    }
}
#ifdef CHECKED
if (first == 0) {
    uint pivot = 0;
    while (failed && !metal::isnan(from[in_panels(pivot, pivot, count, BLOCK)])) {
        ++pivot;
    }
    if (lane == 0) info[matrix] = failed ? pivot + 1 : 0;
}
#endif
