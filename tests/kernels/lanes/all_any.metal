// Over active lanes only: an empty question is answered by those who ask.
// input: x = int32[90] integers(0, 40)
// output: y = bool[90, 2]
// grid: 90
// threadgroup: 90
// init: 0
// where:
//     gang = tid // 32
//     ask = x > 5
//     same = (gang[:, None] == gang) & ask
//     every = np.array([np.all(x[same[t]] > 7) for t in range(90)])
//     some = np.array([np.any(x[same[t]] > 39) for t in range(90)])
// expect: y = np.stack([every & ask, some & ask], axis=1)
uint i = thread_position_in_grid.x;
if (x[i] > 5) {
  y[2 * i] = simd_all(x[i] > 7);
  y[2 * i + 1] = simd_any(x[i] > 39);
}
