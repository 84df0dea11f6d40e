// What is left of the matrix once the panel's rows are done, a SIMD-group per tile of 32 × 32.
// Nobody needs the strips beyond the diagonal, and they stay unwritten:
// anymetal: ignore-kernel[unwritten-output(rest)]
const uint height = strips_shape[2], count = strips_shape[1];
const uint rows = panel_shape[2], done = rows / 32;
const uint lane = thread_index_in_simdgroup;
const uint s = threadgroup_position_in_grid.x, r = threadgroup_position_in_grid.y;
const uint matrix = threadgroup_position_in_grid.z;
if (r > s) {
    return;
}
const device float* from = strips + ulong(matrix) * count * height * 32;
const device float* u = panel + ulong(matrix) * count * rows * 32;
device float* to = rest + ulong(matrix) * (count - done) * (height - rows) * 32;
for (uint first = 32 * r; first < 32 * r + 32; first += 8) {
    float x[8];
    load_rows(x, from + ((done + s) * height + rows + first) * 32 + lane);
    subtract_products(
        x, u + (done + r) * rows * 32 + first % 32, u + (done + s) * rows * 32 + lane, rows
    );
    store_rows(x, to + (s * (height - rows) + first) * 32 + lane);
}
