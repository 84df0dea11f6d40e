// A SIMD-group adds one part of the rows of A and B to TN × TK elements of Aᵀ @ B, TN a multiple
// of 32. Each row of A is read once for TK columns of B. SIMD-groups side by side wait for each
// other now and then, so that rows are read in long stretches.
constexpr uint PACE = 32;
constexpr uint GROUPS = TN / 32, STEP = GROUPS < 8 ? 8 / GROUPS : 1;
const uint lane = thread_index_in_simdgroup, group = simdgroup_index_in_threadgroup;
const uint inner = a_shape[1], rows = a_shape[2], columns = b_shape[2];
const uint strip = threadgroup_position_in_grid.x * simdgroups_per_threadgroup + group;
const uint row = strip * TN + lane;
const uint column = threadgroup_position_in_grid.y * TK;
const uint used = metal::min(columns - column, uint(TK));
const uint part = thread_position_in_grid.z, parts = threads_per_grid.z / a_shape[0];
const uint batch = part / parts, length = (inner + parts - 1) / parts;
const uint begin = metal::min(part % parts * length, inner);
const uint end = metal::min(begin + length, inner);

bool mine[GROUPS];
#pragma unroll
for (uint g = 0; g < GROUPS; ++g) mine[g] = row + 32 * g < rows;
auto left = a + (ulong(batch) * inner + begin) * rows + row;
auto right = b + (ulong(batch) * inner + begin) * columns + column;
float sums[GROUPS][TK] = {};
uint k = begin;
for (; k + STEP <= end; k += STEP) {
    if ((k - begin) % PACE == 0) threadgroup_barrier(metal::mem_flags::mem_none);
    add_outer_products<GROUPS, STEP>(left, right, rows, columns, used, mine, sums);
    left += ulong(STEP) * rows;
    right += ulong(STEP) * columns;
}
for (; k < end; ++k) {
    add_outer_products<GROUPS, 1>(left, right, rows, columns, used, mine, sums);
    left += rows;
    right += columns;
}
for (uint j = 0; j < used; ++j) {
    #pragma unroll
    for (uint g = 0; g < GROUPS; ++g) {
        const ulong to = (ulong(part) * rows + row + 32 * g) * columns + column + j;
        if (mine[g]) out[to] = Result(sums[g][j]);
    }
}
