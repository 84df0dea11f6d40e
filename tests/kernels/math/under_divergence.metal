// Math functions in branches and loops of single lanes.
// input: x = float32[100] uniform(-3, 3)
// output: y = float32[100]
// where:
//     def work(v):
//         if v < 0:
//             return np.exp(v)
//         while v > 1:
//             v = np.sqrt(v) - 0.1
//         return np.sin(v)
// grid: 100
// threadgroup: 32
// expect: y = [work(float(v)) for v in x]
// close: 1e-5 1e-6
uint t = thread_position_in_grid.x;
float v = x[t];
if (v < 0) {
  y[t] = exp(v);
} else {
  while (v > 1) v = sqrt(v) - 0.1f;
  y[t] = sin(v);
}
