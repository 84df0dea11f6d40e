// The upper one is 0.
// input: x = float32[8, 8] normal
// output: y = float32[8, 8]
// grid: 8 8
// threadgroup: 8 8
uint2 at = thread_position_in_grid.xy;
y[8 * at.y + at.x] = at.x <= at.y ? x[8 * at.y + at.x] : 0;
