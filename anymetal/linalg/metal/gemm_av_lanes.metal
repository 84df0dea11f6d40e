// A SIMD-group computes TM rows of A @ V in W columns, W a multiple of 32. It takes blocks of rows of
// V, which stay in the first-level cache while rows of A are added a few at a time: SUMS sums of a
// lane are in registers then.
constexpr uint BLOCK = 128, GROUPS = W / 32;
const uint lane = thread_index_in_simdgroup, batch = thread_position_in_grid.z;
const uint rows = a_shape[1], inner = a_shape[2], columns = v_shape[2];
const uint row = thread_position_in_grid.y * TM, column = threadgroup_position_in_grid.x * W + lane;
const uint used = metal::min(rows - row, uint(TM));

bool mine[GROUPS];
#pragma unroll
for (uint g = 0; g < GROUPS; ++g) mine[g] = column + 32 * g < columns;
auto right = v + ulong(batch) * inner * columns + column;
auto left = a + (ulong(batch) * rows + row) * inner;
float sums[TM][GROUPS] = {}, block[BLOCK][GROUPS];
for (uint start = 0; start < inner; start += BLOCK) {
    const uint count = metal::min(inner - start, BLOCK);
    load_block<GROUPS>(right, columns, count, mine, block);
    add_block<GROUPS, SUMS>(block, left, inner, 1, count, used, sums);
    left += count;
    right += ulong(count) * columns;
}
auto to = out + (ulong(batch) * rows + row) * columns + column;
for (uint r = 0; r < used; ++r) {
    #pragma unroll
    for (uint g = 0; g < GROUPS; ++g) {
        if (mine[g]) to[32 * g] = Result(sums[r][g]);
    }
    to += columns;
}
