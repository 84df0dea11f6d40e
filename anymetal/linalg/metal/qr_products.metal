// transpose(left) * right over a chunk of their rows: a SIMD-group per 32 × 32 results, a lane per
// column. Sums of sums of 64 products err less than sums of all.
const uint m = right_shape[1], k = left_shape[2], n = right_shape[2];
const uint chunks = (m + CHUNK - 1) / CHUNK;
const uint lane = thread_index_in_simdgroup;
const uint matrix = threadgroup_position_in_grid.z / chunks;
const uint start = threadgroup_position_in_grid.z % chunks * CHUNK;
const uint end = metal::min(start + CHUNK, m);
const uint column = 32 * threadgroup_position_in_grid.x + lane;
const uint top = 32 * threadgroup_position_in_grid.y;
auto u = left + ulong(matrix) * m * k;
auto mine = right + ulong(matrix) * m * n + metal::min(column, n - 1);
device float* to = out + ulong(threadgroup_position_in_grid.z) * k * n + column;

for (uint first = top; first < metal::min(top + 32, k); first += 8) {
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (uint block = start; block < end; block += 64) {
        float part[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        for (uint row = block; row < metal::min(block + 64, end); ++row) {
            const float factor = mine[row * n];
            #pragma unroll
            for (uint r = 0; r < 8; ++r) {
                part[r] += u[row * k + metal::min(first + r, k - 1)] * factor;
            }
        }
        #pragma unroll
        for (uint r = 0; r < 8; ++r) {
            sum[r] += part[r];
        }
    }
    for (uint r = 0; r < metal::min(k - first, 8u); ++r) {
        if (column < n) {
            to[(first + r) * n] = sum[r];
        }
    }
}
