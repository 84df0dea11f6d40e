// The same with threads in a row, which take their places from the SIMD-group and the lane; half.
// input: a = float16[64, 48] integers(-5, 5)
// input: b = float16[48, 128] integers(-5, 5)
// output: y = float32[64, 128]
// grid: 512
// threadgroup: 256
// expect: y = a.astype(np.float32) @ b.astype(np.float32)
threadgroup half A[16][64], B[16][64];
uint id = simdgroup_index_in_threadgroup * 32 + thread_index_in_simdgroup;
uint x = id % 16 * 4, z = id / 16 * 4, column = threadgroup_position_in_grid.x * 64;
float s[4][4] = {};
for (uint t = 0; t < 48; t += 16) {
    for (uint q = id; q < 1024; q += 256) {
        A[q % 16][q / 16] = a[q / 16 * 48 + t + q % 16];
        B[q / 64][q % 64] = b[(t + q / 64) * 128 + column + q % 64];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint q = 0; q < 16; q++)
        for (uint e = 0; e < 4; e++)
            for (uint d = 0; d < 4; d++)
                s[e][d] += float(A[q][z + e]) * float(B[q][x + d]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
}
for (uint e = 0; e < 4; e++)
    for (uint d = 0; d < 4; d++)
        y[(z + e) * 128 + column + x + d] = s[e][d];
