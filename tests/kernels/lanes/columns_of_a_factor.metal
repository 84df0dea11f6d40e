// Cholesky factors within SIMD-groups: each lane holds a row, lanes known when compiling give theirs to all.
// input: a = float32[3, 32, 32] normal
// view: a = (a @ a.swapaxes(1, 2)) / 32 + mx.eye(32)
// output: y = float32[3, 32, 32]
// grid: 32 3
// threadgroup: 32 1
// expect: y = np.linalg.cholesky(a.astype(np.float64))
// close: 1e-4 1e-5
uint lane = thread_index_in_simdgroup;
uint start = (thread_position_in_grid.y * 32 + lane) * 32;
float row[32];
for (uint j = 0; j < 32; ++j) row[j] = a[start + j];
#pragma unroll
for (uint k = 0; k < 32; ++k) {
    float pivot = sqrt(simd_shuffle(row[k], k));
    row[k] = lane == k ? pivot : row[k] / pivot;
    #pragma unroll
    for (uint j = k + 1; j < 32; ++j) row[j] -= row[k] * simd_shuffle(row[k], j);
}
for (uint j = 0; j < 32; ++j) y[start + j] = j <= lane ? row[j] : 0.0f;
