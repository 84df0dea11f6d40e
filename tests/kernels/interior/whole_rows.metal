// Loops over rows whose length is, and is not, a multiple of 32; a sum of all lanes.
// input: x = float32[7, 96] normal
// input: y = float32[7, 70] normal
// output: out = float32[7, 2]
// grid: 32 7
// threadgroup: 32 1
// expect: out = np.stack([x.sum(1), y.sum(1)], 1)
// close: 1e-4 1e-4
uint lane = thread_index_in_simdgroup, row = thread_position_in_grid.y;
float a = 0, b = 0;
for (uint i = lane; i < uint(x_shape[1]); i += 32) a += x[row * x_shape[1] + i];
for (int i = lane; i < y_shape[1]; i += 32) b += y[row * y_shape[1] + i];
a = simd_sum(a);
b = simd_sum(b);
if (lane == 0) {
    out[2 * row] = a;
    out[2 * row + 1] = b;
}
