// A SIMD-group adds one part of the rows of A and B to TN × TK elements of Aᵀ @ B, TN a multiple
// of 32. It takes blocks of rows, which stay in the first-level cache while columns of B are added
// a few at a time, in registers. SIMD-groups side by side wait for each other before each block, so
// that rows are read in long stretches.
constexpr uint BLOCK = 32, GROUPS = TN / 32;
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
float sums[TK][GROUPS] = {}, block[BLOCK][GROUPS];
for (uint start = begin; start < end; start += BLOCK) {
    threadgroup_barrier(metal::mem_flags::mem_none);
    const uint count = metal::min(end - start, BLOCK);
    load_block<GROUPS>(left, rows, count, mine, block);
    add_block<GROUPS, SUMS>(block, right, 1, columns, count, used, sums);
    left += ulong(count) * rows;
    right += ulong(count) * columns;
}
for (uint j = 0; j < used; ++j) {
    #pragma unroll
    for (uint g = 0; g < GROUPS; ++g) {
        const ulong to = (ulong(part) * rows + row + 32 * g) * columns + column + j;
        if (mine[g]) out[to] = Result(sums[j][g]);
    }
}
