// A window that LLVM unrolls, in a threadgroup of three SIMD-groups that share a loop in front of it:
// blocks that are copied for each SIMD-group have names of their own.
// input: x = uint32[896] integers(0, 1000)
// input: w = uint32[256] integers(0, 1000)
// input: n = int32[8] [4, 90, 0, 0, 0, 0, 0, 0]
// output: y = uint32[192]
// grid: 96 2
// threadgroup: 96
// where: image = x[:360].reshape(4, 90).astype(np.uint64)
// where: steps = np.maximum(0, -(-(90 - (px & 31)) // 32)).astype(np.uint64)
// where: total = steps * int(w[5])
// where: inside = lambda r, c: (r >= 0) & (r < 4) & (c >= 0) & (c < 90)
// where: sampled = lambda r, c: image[np.clip(r, 0, 3), np.clip(c, 0, 89)]
// where: ways = [(dy, dx) for dy in range(-3, 4) for dx in range(-3, 4)]
// where: step = lambda s, dy, dx: np.where(inside(py + dy, px + dx),
//        s * 3 + sampled(py + dy, px + dx) * ((dx + 2) % 2**32), s + 1) % 2**32
// where: import functools
// expect: y = functools.reduce(lambda s, way: step(s, *way), ways, total)
uint gid = thread_position_in_grid.x + threads_per_grid.x * thread_position_in_grid.y;
int px = (int)thread_position_in_grid.x;
int py = (int)thread_position_in_grid.y;
int rows = n[0];
int columns = n[1];
uint s = 0;
for (int i = px & 31; i < columns; i += 32) {
    s += w[5];
}
for (int dy = -3; dy <= 3; dy++) {
    for (int dx = -3; dx <= 3; dx++) {
        int r = py + dy;
        int c = px + dx;
        if (r >= 0 && r < rows && c >= 0 && c < columns) {
            s = s * 3 + x[r * columns + c] * (uint)(dx + 2);
        } else {
            s += 1;
        }
    }
}
y[gid] = s;
