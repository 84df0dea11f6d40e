// Each SIMD-group adds to more rows than wait for each other, some with few lanes.
// input: x = float32[6, 50] integers(0, 100)
// output: y = float32[50, 50]
// init: 0
// atomic_outputs: true
// grid: 32 6
// threadgroup: 32 2
// where:
//     total = np.zeros((50, 50))
//     for s in range(6):
//         for r in range(50): total[(r + s) % 50] += x[s]
// expect: y = total
uint lane = thread_index_in_simdgroup, s = thread_position_in_grid.y;
for (uint r = 0; r < 50; ++r) {
    for (uint c = lane; c < 50; c += 32) {
        atomic_fetch_add_explicit(&y[(r + s) % 50 * 50 + c], x[s * 50 + c], memory_order_relaxed);
    }
}
