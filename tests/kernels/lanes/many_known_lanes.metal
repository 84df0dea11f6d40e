// Many lanes of one vector, known when compiling: of what is loaded, computed and counted; the lanes of one half only.
// input: x = float32[96] normal
// input: n = int32[96] integers(-100, 100)
// output: y = float32[96]
// output: m = int32[96]
// output: h = float32[96]
// grid: 96
// threadgroup: 32
// where:
//     rows = x.astype(np.float64).reshape(3, 32); whole = n.reshape(3, 32) * 3 + 1
//     weights = np.arange(32) + 1
// expect: y = np.repeat((rows * weights).sum(axis=1), 32) + 1 / (1 + rows.ravel() ** 2)
// expect: m = np.repeat(whole[:, ::4].sum(axis=1), 32) - lane
// expect: h = np.repeat((rows[:, 20:30] ** 2).sum(axis=1), 32)
// close: 1e-4 1e-4
uint i = thread_position_in_grid.x;
float sum = 0, squares = 0, mine = x[i];
#pragma unroll
for (uint k = 0; k < 32; ++k) sum += simd_shuffle(mine, k) * (k + 1);
y[i] = sum + 1 / (1 + mine * mine);
int whole = n[i] * 3 + 1, count = 0;
#pragma unroll
for (uint k = 0; k < 32; k += 4) count += simd_shuffle(whole, k);
m[i] = count - int(thread_index_in_simdgroup);
#pragma unroll
for (uint k = 20; k < 30; ++k) squares += simd_broadcast(mine, k) * simd_shuffle(mine, k);
h[i] = squares;
