// Reductions inside of if, else and loops see the lanes that are there.
// input: x = int32[64] integers(-9, 9)
// output: y = int32[64]
// grid: 64
// threadgroup: 64
// where:
//     r = x.reshape(2, 32)
//     even, odd = r[:, ::2], r[:, 1::2]
//     out = np.empty((2, 32), int)
//     out[:, ::2] = even.sum(1, keepdims=True)
//     out[:, 1::2] = odd.max(1, keepdims=True)
//     alive = np.stack([(r > k).sum(1) for k in range(-9, 9)], 1)
//     out += np.where(r > -9, np.array([[alive[g, :r[g, i] + 9].sum() for i in range(32)] for g in range(2)]), 0)
// expect: y = out
uint t = thread_position_in_grid.x;
int r;
if (t % 2 == 0) {
  r = simd_sum(x[t]);
} else {
  r = simd_max(x[t]);
}
for (int k = -9; k < x[t]; k++) r += simd_sum(1);
y[t] = r;
