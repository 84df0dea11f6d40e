// A private array, a loop and a barrier behind the checks.
// input: x = float32[70] normal
// output: out = float32[64]
// grid: 64
// threadgroup: 64
// where: i = np.arange(64)
// expect: out = sum(np.where(i + k < 70, x[np.minimum(i + k, 69)], 0) for k in range(8))[::-1]
// close: 1e-5 1e-5
threadgroup float shared[64];
int i = thread_position_in_grid.x, n = x_shape[0];
float window[8] = {0};
if (i + 7 < n) {
    for (int k = 0; k < 8; ++k) window[k] = x[i + k];
} else {
    for (int k = 0; k < 8; ++k) if (i + k < n) window[k] = x[i + k];
}
float sum = 0;
for (int k = 0; k < 8; ++k) sum += window[(k * 5) % 8];
shared[i] = sum;
threadgroup_barrier(mem_flags::mem_threadgroup);
out[i] = shared[63 - i];
