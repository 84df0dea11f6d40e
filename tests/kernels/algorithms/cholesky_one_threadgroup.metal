// The same with a column an iteration and all threads at work below the diagonal.
// input: a = float32[40, 40] np.eye(40) * 50 + np.fromfunction(lambda i, j: np.sin(i + j), (40, 40))
// output: l = float32[40, 40]
// grid: 64
// threadgroup: 64
// init: 0
// expect: l = np.linalg.cholesky(a.astype(np.float64))
// close: 1e-5
const uint n = 40;
uint t = thread_position_in_threadgroup.x;
threadgroup float diagonal;
for (uint j = 0; j < n; j++) {
  if (t == 0) {
    float d = a[j * n + j];
    for (uint k = 0; k < j; k++) d -= l[j * n + k] * l[j * n + k];
    diagonal = sqrt(d);
    l[j * n + j] = diagonal;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  for (uint i = j + 1 + t; i < n; i += threads_per_threadgroup.x) {
    float sum = a[i * n + j];
    for (uint k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
    l[i * n + j] = sum / diagonal;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
}
