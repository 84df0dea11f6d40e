// A tile with an edge of two elements, which threadgroups of 8 x 8 load row by row.
// input: x = float16[34, 66] integers(-9, 9)
// output: y = float32[32, 64]
// grid: 64 32
// threadgroup: 8 8
// expect: y = sum(x[r:r + 32, c:c + 64].astype(np.float32) for r in range(3) for c in range(3))
threadgroup half tile[10][10];
uint2 at = thread_position_in_grid.xy, l = thread_position_in_threadgroup.xy;
uint first = (at.y - l.y) * 66 + at.x - l.x;
for (uint r = l.y; r < 10; r += 8)
    for (uint c = l.x; c < 10; c += 8)
        tile[r][c] = x[first + r * 66 + c];
threadgroup_barrier(mem_flags::mem_threadgroup);
float sum = 0;
for (uint r = 0; r < 3; r++)
    for (uint c = 0; c < 3; c++)
        sum += tile[l.y + r][l.x + c];
y[at.y * 64 + at.x] = sum;
