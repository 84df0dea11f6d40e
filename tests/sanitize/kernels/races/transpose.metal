// A tile is read by columns as soon as a row is there.
// input: x = float32[32, 32] normal
// output: y = float32[32, 32]
// grid: 32 32
// threadgroup: 16 16
threadgroup float tile[16][17];
uint2 l = thread_position_in_threadgroup.xy;
uint2 g = threadgroup_position_in_grid.xy;
tile[l.y][l.x] = x[(g.y * 16 + l.y) * 32 + g.x * 16 + l.x];  // finds: race-threadgroup (either)
y[(g.x * 16 + l.y) * 32 + g.y * 16 + l.x] = tile[l.x][l.y];  // finds: race-threadgroup (either), undefined-output
