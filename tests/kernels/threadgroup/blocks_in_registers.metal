// A product of matrices by blocks: each of 16 x 16 threads keeps 4 x 4 sums while tiles come and go.
// input: a = float32[64, 48] integers(-5, 5)
// input: b = float32[48, 128] integers(-5, 5)
// output: y = float32[64, 128]
// grid: 32 16
// threadgroup: 16 16
// expect: y = a @ b
threadgroup float A[16][64], B[16][64];
uint2 l = thread_position_in_threadgroup.xy;
uint column = threadgroup_position_in_grid.x * 64;
float s[4][4] = {};
for (uint t = 0; t < 48; t += 16) {
    for (uint q = l.y * 16 + l.x; q < 1024; q += 256) {
        A[q % 16][q / 16] = a[q / 16 * 48 + t + q % 16];
        B[q / 64][q % 64] = b[(t + q / 64) * 128 + column + q % 64];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint q = 0; q < 16; q++)
        for (uint e = 0; e < 4; e++)
            for (uint d = 0; d < 4; d++)
                s[e][d] += A[q][l.y * 4 + e] * B[q][l.x * 4 + d];
    threadgroup_barrier(mem_flags::mem_threadgroup);
}
for (uint e = 0; e < 4; e++)
    for (uint d = 0; d < 4; d++)
        y[(l.y * 4 + e) * 128 + column + l.x * 4 + d] = s[e][d];
