// Lanes that have returned take no part any more.
// covers: under divergence: only active lanes take part
// input: x = int32[64] integers(-50, 50)
// output: y = int32[64, 2]
// grid: 64
// threadgroup: 64
// init: 0
// where:
//     r = x.reshape(2, 32)
//     keep = r > 0
//     sums = np.where(keep, (r * keep).sum(1, keepdims=True), 0)
//     counts = np.where(keep, keep.sum(1, keepdims=True), 0)
// expect: y = np.stack([sums, counts], axis=2)
uint i = thread_position_in_grid.x;
if (x[i] <= 0) return;
y[2 * i] = simd_sum(x[i]);
y[2 * i + 1] = popcount((uint)(ulong)simd_ballot(true));
