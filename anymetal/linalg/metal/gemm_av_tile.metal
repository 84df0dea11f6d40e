// A threadgroup computes TM × W elements of A @ V, one per thread, and shares what they read.
threadgroup float left[TM][DEPTH], right[DEPTH][W];
const uint x = thread_position_in_threadgroup.x, y = thread_position_in_threadgroup.y;
const uint rows = a_shape[1], inner = a_shape[2], columns = v_shape[2];
const uint row = threadgroup_position_in_grid.y * TM;
const uint column = threadgroup_position_in_grid.x * W;
const ulong batch = thread_position_in_grid.z;
const auto from_a = a + batch * rows * inner;
const auto from_v = v + batch * inner * columns;

float sum = 0;
for (uint start = 0; start < inner; start += DEPTH) {
    for (uint i = y * W + x; i < TM * DEPTH; i += TM * W) {
        const uint r = row + i / DEPTH, k = start + i % DEPTH;
        const bool inside = r < rows && k < inner;
        left[i / DEPTH][i % DEPTH] = inside ? float(from_a[ulong(r) * inner + k]) : 0.0f;
    }
    for (uint i = y * W + x; i < DEPTH * W; i += TM * W) {
        const uint k = start + i / W, c = column + i % W;
        const bool inside = k < inner && c < columns;
        right[i / W][i % W] = inside ? float(from_v[ulong(k) * columns + c]) : 0.0f;
    }
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    for (uint k = 0; k < DEPTH; ++k) sum = metal::fma(left[y][k], right[k][x], sum);
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
}
if (row + y < rows && column + x < columns) {
    out[(batch * rows + row + y) * columns + column + x] = Result(sum);
}
