// All SIMD-groups need the same rows, more than the registers hold beside everybody's sum, and the
// rows change from step to step.
// input: a = float32[64, 8] normal
// input: b = float32[64, 32] normal
// output: c = float32[8, 32]
// grid: 32 8
// threadgroup: 32 8
// close: 1e-4
// where:
//     exact = a.astype(np.float64).T @ b.astype(np.float64)
// expect: c = exact
threadgroup float rows[16][32];
uint lane = thread_position_in_threadgroup.x, y = thread_position_in_threadgroup.y;
float sum = 0;
for (uint step = 0; step < 4; ++step) {
    rows[y][lane] = b[(step * 16 + y) * 32 + lane];
    rows[y + 8][lane] = b[(step * 16 + y + 8) * 32 + lane];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < 16; ++k) sum += a[(step * 16 + k) * 8 + y] * rows[k][lane];
    threadgroup_barrier(mem_flags::mem_threadgroup);
}
c[y * 32 + lane] = sum;
