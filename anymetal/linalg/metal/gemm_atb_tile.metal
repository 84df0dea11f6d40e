// A threadgroup computes TN × TK elements of Aᵀ @ B, one per thread, from one part of the rows of
// A and B, and shares what they read.
threadgroup float left[DEPTH][TN], right[DEPTH][TK];
const uint x = thread_position_in_threadgroup.x, y = thread_position_in_threadgroup.y;
const uint inner = a_shape[1], rows = a_shape[2], columns = b_shape[2];
const uint row = threadgroup_position_in_grid.y * TN;
const uint column = threadgroup_position_in_grid.x * TK;
const uint part = thread_position_in_grid.z, parts = threads_per_grid.z / a_shape[0];
const uint batch = part / parts, length = (inner + parts - 1) / parts;
const uint begin = metal::min(part % parts * length, inner);
const uint end = metal::min(begin + length, inner);
const auto from_a = a + ulong(batch) * inner * rows;
const auto from_b = b + ulong(batch) * inner * columns;

float sum = 0;
for (uint start = begin; start < end; start += DEPTH) {
    for (uint i = y * TK + x; i < DEPTH * TN; i += TN * TK) {
        const uint k = start + i / TN, r = row + i % TN;
        left[i / TN][i % TN] = k < end && r < rows ? float(from_a[ulong(k) * rows + r]) : 0.0f;
    }
    for (uint i = y * TK + x; i < DEPTH * TK; i += TN * TK) {
        const uint k = start + i / TK, c = column + i % TK;
        const bool inside = k < end && c < columns;
        right[i / TK][i % TK] = inside ? float(from_b[ulong(k) * columns + c]) : 0.0f;
    }
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    for (uint k = 0; k < DEPTH; ++k) sum = metal::fma(left[k][y], right[k][x], sum);
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
}
if (row + y < rows && column + x < columns) {
    out[(ulong(part) * rows + row + y) * columns + column + x] = Result(sum);
}
