// A matrix per threadgroup, a strip of 32 columns per SIMD-group.
// Nobody needs the strips beyond the diagonal, and they stay unwritten:
// anymetal: ignore-kernel[unwritten-output(work)]
const uint n = a_shape[a_ndim - 1];
const uint height = (n + 31) / 32 * 32;
const uint lane = thread_index_in_simdgroup, s = simdgroup_index_in_threadgroup;
const uint matrix = threadgroup_position_in_grid.y;
const uint column = 32 * s + lane;
auto from = a + ulong(matrix) * n * n;
device float* to = out + ulong(matrix) * n * n;
device float* strips = work + ulong(matrix) * height * height;
device float* mine = strips + s * height * 32 + lane;

const int exponent = exponent_of(from, n, column);
for (uint first = 0; first < 32 * s + 32; first += 8) {
    float x[8];
    load_triangle(x, from, n, first, column, UPPER);
    scale_rows(x, from, n, first, exponent);
    store_rows(x, mine + 32 * first);
}
factor_strips(strips, height, (n + 7) / 8, s, lane, BOUNDS);
if (metal::simd_any(exponent != 0)) {
    for (uint i = 0; i < 32 * s + 32; ++i) {
        mine[32 * i] *= power_of_two(-exponent);
    }
}
threadgroup_barrier(mem_flags::mem_device);

const bool failed = metal::isnan(strips[(n - 1) / 32 * 32 * height + (n - 1) * 32 + (n - 1) % 32]);
if (UPPER) {
    for (uint i = 0; i < n; ++i) {
        if (column < n) {
            to[i * n + column] = i > column ? 0 : failed ? NAN : mine[32 * i];
        }
    }
} else {
    const device float* row = strips + s * height * 32;
    for (uint i = 32 * s; i < metal::min(n, 32 * s + 32); ++i) {
        for (uint j = lane; j < n; j += 32) {
            to[i * n + j] = j > i ? 0 : failed ? NAN : row[32 * j + i % 32];
        }
    }
}
#ifdef CHECKED
uint pivot = 0;
while (failed && !metal::isnan(strips[pivot / 32 * 32 * height + pivot * 32 + pivot % 32])) {
    ++pivot;
}
if (column == 0) info[matrix] = failed ? pivot + 1 : 0;
#endif
