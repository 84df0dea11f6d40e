// What the SIMD-groups of a team store in pieces, which overlap: each keeps to its own order.
// input: x = float32[2048] normal
// output: y = float32[2048]
// output: z = float32[2048]
// grid: 512
// threadgroup: 256
// where: v = x.reshape(2, 1024)
// where: sums = v.reshape(2, 4, 256).sum(1)
// where: rows = np.concatenate([2 * v.reshape(2, 4, 256)[:, 1:], sums[:, None]], 1)
// expect: y = rows.reshape(2048)
// expect: z = x[::-1]
// close: 1e-5 1e-5
threadgroup float turned[1024];
uint i = thread_index_in_threadgroup, first = threadgroup_position_in_grid.x * 1024;
for (uint k = 0; k < 1024; k += 256) turned[1023 - k - i] = x[first + k + i];
threadgroup_barrier(mem_flags::mem_threadgroup);
float sum = 0;
for (uint k = 0; k < 1024; k += 256) {
    float v = turned[1023 - k - i];
    y[first + k + i] = v;
    if (k > 0) y[first + k + i - 256] = 2 * v;  // once more
    z[2047 - first - k - i] = v;
    sum += v;
}
y[first + 768 + i] = sum;
