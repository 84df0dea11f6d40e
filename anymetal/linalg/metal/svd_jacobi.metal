// Rows of a matrix turn in pairs until they are orthogonal: a threadgroup per matrix, a SIMD-group
// per pair, lanes along the rows. In a round of the tournament every row has a partner of its own,
// in a sweep each other row once.
threadgroup metal::atomic_uint turned[2];
const uint n = a_shape[a_ndim - 2], length = a_shape[a_ndim - 1];
const uint width = (length + 31) / 32 * 32;
const uint lane = thread_index_in_simdgroup, group = simdgroup_index_in_threadgroup;
const uint groups = simdgroups_per_threadgroup, matrix = threadgroup_position_in_grid.y;
auto from = a + ulong(matrix) * n * length;
device float* mine = rows + ulong(matrix) * n * width + lane;

for (uint row = group; row < n; row += groups) {
    for (uint i = 0; i < width; i += 32) {
        mine[row * width + i] = i + lane < length ? from[row * length + i + lane] : 0.0f;
    }
}
if (group == 0 && lane < 2) {
    metal::atomic_store_explicit(&turned[lane], 0u, metal::memory_order_relaxed);
}
threadgroup_barrier(metal::mem_flags::mem_device | metal::mem_flags::mem_threadgroup);

float largest = 0;
for (uint row = 0; row < n; ++row) {
    largest = metal::max(largest, norm(mine + row * width, width));
}
const uint seats = n - 1 + n % 2;  // one row stays where it is; with an odd number it is none
for (uint sweep = 0; sweep < SWEEPS; ++sweep) {
    for (uint round = 0; round < seats; ++round) {
        bool any = false;
        for (uint pair = n % 2 + PAIRS * group; 2 * pair <= seats; pair += PAIRS * groups) {
            if (2 * (pair + PAIRS - 1) <= seats) {
                any |= turn<PAIRS>(mine, pair, round, seats, width, largest);
            } else {
                for (uint one = pair; 2 * one <= seats; ++one) {
                    any |= turn<1>(mine, one, round, seats, width, largest);
                }
            }
        }
        if (any && lane == 0) {
            metal::atomic_store_explicit(&turned[sweep % 2], 1u, metal::memory_order_relaxed);
        }
        threadgroup_barrier(metal::mem_flags::mem_device | metal::mem_flags::mem_threadgroup);
    }
    if (metal::atomic_load_explicit(&turned[sweep % 2], metal::memory_order_relaxed) == 0) break;
    if (group == 0 && lane == 0) {
        metal::atomic_store_explicit(&turned[(sweep + 1) % 2], 0u, metal::memory_order_relaxed);
    }
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
}
