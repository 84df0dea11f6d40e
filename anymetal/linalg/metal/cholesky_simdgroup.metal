// A matrix per SIMD-group, of fewer than 32 rows.
threadgroup float u[32][32];
const uint n = a_shape[a_ndim - 1];
const uint lane = thread_index_in_simdgroup;
const uint matrix = threadgroup_position_in_grid.y;
auto from = a + ulong(matrix) * n * n;
device float* to = out + ulong(matrix) * n * n;

const int exponent = exponent_of(from, n, lane);
const bool any = metal::simd_any(exponent != 0);

threadgroup float* mine = &u[0][lane];
for (uint first = 0; first < n; first += 8) {
    float x[8];
    load_triangle(x, from, n, first, lane, UPPER);
    if (any) {
        scale_rows(x, from, n, first, exponent);
    }
    subtract_products(x, &u[0][first], mine, first);
    factor_rows(x, first, lane, BOUNDS);
    store_rows(x, mine + 32 * first);
    simdgroup_barrier(mem_flags::mem_threadgroup);
}
if (any) {
    for (uint i = 0; i < n; ++i) {
        mine[32 * i] *= power_of_two(-exponent);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
}
const bool failed = metal::isnan(u[n - 1][n - 1]);
if (lane < n) {
    for (uint i = 0; i < n; ++i) {
        float value = UPPER ? u[i][lane] : u[lane][i];
        bool outside = UPPER ? lane < i : lane > i;
        to[i * n + lane] = outside ? 0 : failed ? NAN : value;
    }
}
#ifdef CHECKED
uint pivot = 0;
while (failed && !metal::isnan(u[pivot][pivot])) {
    ++pivot;
}
if (lane == 0) info[matrix] = failed ? pivot + 1 : 0;
#endif
