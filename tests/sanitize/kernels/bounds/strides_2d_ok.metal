// Rows and columns are exchanged.
// input: x = float32[4, 32]
// output: y = float32[32, 4]
// grid: 32 4
// threadgroup: 32 1
uint2 p = thread_position_in_grid.xy;
y[p.x * 4 + p.y] = x[p.y * 32 + p.x];
