// Lanes of a vector that is another one in each iteration, in whole SIMD-groups and in one of eight lanes.
// input: x = float32[72] uniform(-1, 1)
// output: y = float32[72]
// grid: 72
// threadgroup: 72
// where:
//     def run(v):
//         for iteration in range(5): v = v * 0.5 + v[:8] @ (np.arange(8) / 16 + iteration / 100)
//         return v
//     groups = [x[at : at + 32].astype(np.float64) for at in (0, 32, 64)]
// expect: y = np.concatenate([run(v) for v in groups])
// close: 1e-5 1e-5
uint i = thread_position_in_grid.x;
float v = x[i];
#pragma nounroll
for (uint iteration = 0; iteration < 5; ++iteration) {
    float sum = 0;
    #pragma unroll
    for (uint k = 0; k < 8; ++k) sum += simd_shuffle(v, k) * (k / 16.0f + iteration / 100.0f);
    v = v * 0.5f + sum;
}
y[i] = v;
