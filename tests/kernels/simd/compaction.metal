// Keep the positive values of each SIMD-group, in order: an exclusive scan of the survivors.
// input: x = int32[128] integers
// output: y = int32[128]
// where:
//     kept = [row[row > 0] for row in x.reshape(4, 32)]
// grid: 128
// threadgroup: 64
// init: 0
// expect: y = np.concatenate([np.pad(k, (0, 32 - len(k))) for k in kept])
uint i = thread_position_in_grid.x;
uint at = simd_prefix_exclusive_sum(x[i] > 0 ? 1u : 0u);
if (x[i] > 0) y[i / 32 * 32 + at] = x[i];
