// X with X U = B for an upper triangle U: a lane per row of B and X, eight columns at a time.
const uint m = b_shape[b_ndim - 2], n = b_shape[b_ndim - 1];
const uint width = (n + 7) / 8 * 8, tiles = (m + 31) / 32;
const uint lane = thread_index_in_simdgroup;
const uint row = 32 * threadgroup_position_in_grid.x + lane, matrix = threadgroup_position_in_grid.y;
auto from = b + (ulong(matrix) * m + metal::min(row, m - 1)) * n;
auto triangle = u + ulong(matrix) * n * n;
device float* to = out + (ulong(matrix) * m + row) * n;
device float* solved =
    work + (ulong(matrix) * tiles + threadgroup_position_in_grid.x) * width * 32 + lane;

for (uint first = 0; first < n; first += 8) {
    // Beyond the end the last column again and again, which nobody will see.
    uint columns[8];
    float x[8];
    #pragma unroll
    for (uint r = 0; r < 8; ++r) {
        columns[r] = metal::min(first + r, n - 1);
        x[r] = 0;
    }
    for (uint k = 0; k < first; ++k) {
        const float factor = solved[32 * k];
        #pragma unroll
        for (uint r = 0; r < 8; ++r) {
            x[r] += triangle[k * n + columns[r]] * factor;
        }
    }
    #pragma unroll
    for (uint r = 0; r < 8; ++r) {
        x[r] = from[columns[r]] - x[r];
    }
    #pragma unroll
    for (uint r = 0; r < 8; ++r) {
        x[r] *= 1 / triangle[columns[r] * (n + 1)];
        #pragma unroll
        for (uint i = r + 1; i < 8; ++i) {
            x[i] -= triangle[columns[r] * n + columns[i]] * x[r];
        }
        solved[32 * (first + r)] = x[r];
    }
    for (uint r = 0; r < metal::min(n - first, 8u); ++r) {
        if (row < m) {
            to[first + r] = x[r];
        }
    }
}
