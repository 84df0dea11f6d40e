// Where some lanes are inactive each keeps its own components.
// input: x = float32[64, 4] integers(-20, 20)
// output: y = float32[64, 4]
// output: sum = float32[2]
// grid: 64
// threadgroup: 64
// init: 7
// where: odd = (np.arange(64) % 3 == 1)[:, None]
// expect: y = np.where(odd, x * 2 + 1, 7)
// expect: sum = (np.where(odd, x * 2 + 1, 0)).reshape(2, -1).sum(1)
uint i = thread_position_in_grid.x;
float4 v = ((const device float4*)x)[i] * 2 + 1;
if (i % 3 == 1) {
  ((device float4*)y)[i] = v;
  sum[simdgroup_index_in_threadgroup] = simd_sum(dot(v, 1));
}
