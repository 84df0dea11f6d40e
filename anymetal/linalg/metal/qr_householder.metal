// A matrix per threadgroup; strip s belongs to SIMD-group s % groups.
// Nobody needs a block's part beyond its reflections, and it stays unwritten:
// anymetal: ignore-kernel[unwritten-output(blocks)]
const uint m = a_shape[a_ndim - 2], n = a_shape[a_ndim - 1], k = metal::min(m, n);
const uint height = (m + 7) / 8 * 8;
const uint lane = thread_index_in_simdgroup, group = simdgroup_index_in_threadgroup;
const uint groups = simdgroups_per_threadgroup;
const uint matrix = threadgroup_position_in_grid.y;
const uint wide = (n + 31) / 32, panels = (k + 31) / 32;

auto from = a + ulong(matrix) * m * n;
device float* work = strips + ulong(matrix) * (wide + panels) * height * 32;
device float* basis = work + wide * height * 32;
device float* reflections = blocks + ulong(matrix) * panels * BLOCK_SIZE;
device float* own_scratch = scratch + (ulong(matrix) * groups + group) * 2048;

device int* exponents = scaling + ulong(matrix) * wide * 32;  // of the columns

for (uint s = group; s < wide; s += groups) {
    const uint column = 32 * s + lane;
    device float* mine = work + s * height * 32 + lane;
    uint largest = 0;
    for (uint row = 0; row < height; ++row) {
        float value = 0;
        if (row < m && column < n) {
            value = from[row * n + column];
        }
        largest = metal::max(largest, magnitude_bits(value));
        mine[32 * row] = value;
    }
    const int exponent = scaling_exponent(largest);
    exponents[column] = exponent;
    if (metal::simd_any(exponent != 0)) {
        for (uint row = 0; row < height; ++row) {
            mine[32 * row] = scaled(mine[32 * row], exponent);
        }
    }
}

for (uint p = 0; p < panels; ++p) {
    device float* block = reflections + p * BLOCK_SIZE;
    device float* strip = work + p * height * 32;
    if (group == p % groups) {
        simdgroup_barrier(mem_flags::mem_device);
        factor_strip(strip, 32 * p, metal::min(k - 32 * p, 32u), height, lane, block);
    }
    threadgroup_barrier(mem_flags::mem_device);
    for (uint s = group; s < wide; s += groups) {
        if (s > p) {
            reflect(
                work + s * height * 32 + lane, strip, block, true, 32 * p, height, own_scratch, lane
            );
        }
    }
}

// R, with rows of positive diagonal.
device float* to_r = r + ulong(matrix) * k * n;
for (uint s = group; s < wide; s += groups) {
    const uint column = 32 * s + lane;
    const int exponent = exponents[column];
    const bool any = metal::simd_any(exponent != 0);
    for (uint row = 0; row < k; ++row) {
        const device float* block = reflections + row / 32 * BLOCK_SIZE;
        float value = 0;
        if (row / 32 == s) {
            value = block[TOP + row % 32 * 32 + lane];
        } else if (row / 32 < s) {
            value = work[(s * height + row) * 32 + lane] * block[SIGNS + row % 32];
        }
        if (column < n) {
            to_r[row * n + column] = any ? scaled_back(value, exponent) : value;
        }
    }
}

// Q: the reflections, from the last to the first, of columns of the identity.
device float* to_q = q + ulong(matrix) * m * k;
for (uint s = group; s < panels; s += groups) {
    const uint column = 32 * s + lane;
    device float* mine = basis + s * height * 32 + lane;
    for (uint row = 0; row < height; ++row) {
        mine[32 * row] = row == column ? 1 : 0;
    }
    for (uint p = s + 1; p-- > 0;) {
        reflect(
            mine, work + p * height * 32, reflections + p * BLOCK_SIZE, false, 32 * p, height,
            own_scratch, lane
        );
    }
    const float sign = reflections[s * BLOCK_SIZE + SIGNS + lane];
    for (uint row = 0; row < m; ++row) {
        if (column < k) {
            to_q[row * k + column] = sign * mine[32 * row];
        }
    }
}
