// Lanes known when compiling, of a vector that lanes on both sides of a branch have changed, and inside of one side.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// where:
//     v = np.where(lane % 2 == 1, x * 2, x + 1).reshape(2, 32).astype(np.float64)
//     odd = v[:, [1, 3, 5, 7, 9]].sum(axis=1)
//     all_ = v[:, [0, 1, 2, 3, 4, 5]].sum(axis=1)
// expect: y = np.where(lane % 2 == 1, np.repeat(odd, 32), 0) + np.repeat(all_, 32)
// close: 1e-5 1e-5
uint i = thread_position_in_grid.x;
uint lane = thread_index_in_simdgroup;
float v = x[i], sum = 0;
if (lane % 2) v *= 2; else v += 1;
if (lane % 2) {
    #pragma unroll
    for (uint k = 1; k < 10; k += 2) sum += simd_shuffle(v, k);
}
#pragma unroll
for (uint k = 0; k < 6; ++k) sum += simd_shuffle(v, k);
y[i] = sum;
