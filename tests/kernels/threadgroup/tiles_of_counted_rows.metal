// Tiles whose places follow from counters that count up, down, and from a number that wrapped.
// input: a = int32[40, 48] integers(-99, 99)
// output: y = int32[64]
// output: z = int32[64]
// grid: 8 8
// threadgroup: 8 8
// where:
//     t = a.reshape(5, 8, 6, 8)
//     weight = lambda n: (np.arange(n) + 1)[:, None, None]
// expect: y = (t[0].transpose(1, 2, 0) * weight(6)).sum(0).ravel()
// expect: z = (t[::-1, :, 2] * weight(5)).sum(0).ravel() + (t[:, :, 1] * weight(5)).sum(0).ravel()
threadgroup int tile[8][8];
uint x = thread_position_in_threadgroup.x, y_ = thread_position_in_threadgroup.y;
uint columns = a_shape[1], rows = a_shape[0];
int across = 0, down = 0;
for (uint start = 0, n = 1; start < columns; start += 8, ++n) {
    tile[y_][x] = a[y_ * columns + start + x];
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    across += int(n) * tile[x][y_];
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
}
for (uint left = rows, n = 1; left > 0; left -= 8, ++n) {
    tile[y_][x] = a[(left - 8 + y_) * columns + 16 + x];
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    down += int(n) * tile[y_][x];
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
}
uint n = 1;
for (uint row = -8; row != rows - 8; row += 8) {
    tile[y_][x] = a[(row + 8 + y_) * columns + 8 + x];
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    down += int(n++) * tile[y_][x];
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
}
y[y_ * 8 + x] = across;
z[y_ * 8 + x] = down;
