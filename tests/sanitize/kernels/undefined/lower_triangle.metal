// Only the lower triangle is written.
// input: x = float32[8, 8] normal
// output: y = float32[8, 8]
// grid: 8 8
// threadgroup: 8 8
uint2 at = thread_position_in_grid.xy;
if (at.x <= at.y) {
  y[8 * at.y + at.x] = x[8 * at.y + at.x];  // finds: unwritten-output
}
