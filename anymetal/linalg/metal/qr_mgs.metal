// A matrix per SIMD-group. Columns of A are rows here, and so are those of Q.
// `rest` is for columns beyond the basis, and stays unwritten without such:
// anymetal: ignore-kernel[unwritten-output(rest)]
const uint n = a_shape[a_ndim - 2], m = a_shape[a_ndim - 1], k = metal::min(m, n);
const uint lane = thread_index_in_simdgroup, matrix = threadgroup_position_in_grid.y;
auto from = a + ulong(matrix) * m * n;
device float* basis = q + ulong(matrix) * k * m;
device float* to = r + ulong(matrix) * k * n;
device float* spare = rest + ulong(matrix) * m;

for (uint j = 0; j < n; ++j) {
    const uint count = metal::min(j, k);
    device float* v = j < k ? basis + j * m : spare;
    for (uint i = lane; i < k; i += 32) {
        to[i * n + j] = 0;
    }
    uint largest = 0;
    for (uint i = lane; i < m; i += 32) {
        largest = metal::max(largest, magnitude_bits(from[j * m + i]));
    }
    const int exponent = scaling_exponent(metal::simd_max(largest));
    for (uint i = lane; i < m; i += 32) {
        v[i] = scaled(from[j * m + i], exponent);
    }
    simdgroup_barrier(mem_flags::mem_device);
    const float whole = norm(v, m, lane);
    project(v, basis, count, m, lane, to + j, n, true);
    project(v, basis, count, m, lane, to + j, n, true);
    simdgroup_barrier(mem_flags::mem_device);
    for (uint i = lane; i < count; i += 32) {
        to[i * n + j] = scaled_back(to[i * n + j], exponent);
    }
    if (j >= k) {
        continue;
    }
    float left = norm(v, m, lane);
    // An infinite element leaves NaN in its column, as one that is NaN does.
    const bool dependent = left <= DEPENDENT * whole && !metal::isinf(whole);
    if (lane == 0) {
        to[j * n + j] = dependent ? 0 : scaled_back(left, exponent);
    }
    // A unit vector that is not nearly in the span takes the place of a column that is: of any m,
    // one at least keeps 1 / sqrt(m) of its length.
    for (uint unit = j; dependent && unit < j + m; ++unit) {
        for (uint i = lane; i < m; i += 32) {
            v[i] = i == unit % m ? 1 : 0;
        }
        simdgroup_barrier(mem_flags::mem_device);
        project(v, basis, count, m, lane, to, n, false);
        left = norm(v, m, lane);
        if (2 * left * left * m > 1) {
            project(v, basis, count, m, lane, to, n, false);
            left = norm(v, m, lane);
            break;
        }
    }
    for (uint i = lane; i < m; i += 32) {
        v[i] *= 1 / left;
    }
    simdgroup_barrier(mem_flags::mem_device);
}
