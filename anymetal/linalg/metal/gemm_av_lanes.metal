// A SIMD-group computes TM rows of A @ V in W columns, W a multiple of 32, in registers.
constexpr uint GROUPS = W / 32;
const uint lane = thread_index_in_simdgroup, batch = thread_position_in_grid.z;
const uint rows = a_shape[1], inner = a_shape[2], columns = v_shape[2];
const uint row = thread_position_in_grid.y * TM, column = threadgroup_position_in_grid.x * W + lane;

bool mine[GROUPS];
for (uint g = 0; g < GROUPS; ++g) mine[g] = column + 32 * g < columns;
const auto right = v + ulong(batch) * inner * columns + column;
auto left = a + (ulong(batch) * rows + row) * inner;
auto to = out + (ulong(batch) * rows + row) * columns + column;
if (row + TM <= rows) {
    rows_times_columns<TM, GROUPS, Result>(left, right, to, inner, columns, mine);
} else {
    for (uint r = row; r < rows; ++r) {
        rows_times_columns<1, GROUPS, Result>(left, right, to, inner, columns, mine);
        left += inner;
        to += columns;
    }
}
