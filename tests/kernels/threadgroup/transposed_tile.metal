// Columns of a padded tile become rows; each SIMD-group has some of them.
// input: x = float32[64,96] normal
// output: y = float32[96,64]
// output: z = float32[64,96]
// grid: 96 16
// threadgroup: 32 8
// expect: y = x.T
// expect: z = x.reshape(2, 32, 3, 32).transpose(0, 3, 2, 1).reshape(64, 96)
threadgroup float tile[32][33], back[32][35];
uint tx = thread_position_in_threadgroup.x, ty = thread_position_in_threadgroup.y;
uint column = threadgroup_position_in_grid.x * 32, row = threadgroup_position_in_grid.y * 32;
for (uint k = 0; k < 32; k += 8) {
    float v = x[(row + ty + k) * 96 + column + tx];
    tile[ty + k][tx] = v;
    back[tx][ty + k] = v;
}
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint k = 0; k < 32; k += 8) {
    y[(column + ty + k) * 64 + row + tx] = tile[tx][ty + k];
    z[(row + ty + k) * 96 + column + tx] = back[ty + k][tx];
}
