// The components of a float4 are added one by one, to neighbours of two arrays in turn.
// input: x = float32[200, 4] integers(-50, 50)
// output: y = float32[103, 4]
// output: z = float32[100, 4]
// grid: 200
// threadgroup: 100
// init: 0
// atomic_outputs: true
// where:
//     a = np.zeros((103, 4), np.float32); b = np.zeros((100, 4), np.float32); i = np.arange(200) % 100
//     np.add.at(a, i + 3, x); np.add.at(b, i, np.where((i % 7 != 3)[:, None], 2 * x, 0))
// expect: y = a
// expect: z = b
uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;
float4 v = ((const device float4*)x)[i];
for (uint c = 0; c < 4; c++) {
    atomic_fetch_add_explicit(&y[4 * (l + 3) + c], v[c], memory_order_relaxed);
    if (l % 7 != 3) atomic_fetch_add_explicit(&z[4 * l + c], 2 * v[c], memory_order_relaxed);
}
