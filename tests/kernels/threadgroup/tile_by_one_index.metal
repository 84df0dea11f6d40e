// A tile with an edge, which threads load by one index that is taken apart.
// input: x = float32[34, 66] integers(-9, 9)
// output: y = float32[32, 64]
// grid: 64 32
// threadgroup: 16 16
// expect: y = sum(x[r:r + 32, c:c + 64] for r in range(3) for c in range(3))
threadgroup float tile[18][18];
uint2 at = thread_position_in_grid.xy, l = thread_position_in_threadgroup.xy;
uint first = (at.y - l.y) * 66 + at.x - l.x;
for (uint q = l.y * 16 + l.x; q < 324; q += 256)
    tile[q / 18][q % 18] = x[first + q / 18 * 66 + q % 18];
threadgroup_barrier(mem_flags::mem_threadgroup);
float sum = 0;
for (uint r = 0; r < 3; r++)
    for (uint c = 0; c < 3; c++)
        sum += tile[l.y + r][l.x + c];
y[at.y * 64 + at.x] = sum;
