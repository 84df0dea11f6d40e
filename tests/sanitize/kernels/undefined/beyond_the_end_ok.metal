// Lanes that write nothing have addresses behind the end: the others write all elements.
// input: x = float32[16, 3] normal
// output: y = float32[16, 3]
// grid: 32 16
// threadgroup: 32 8
int lane = thread_position_in_grid.x, n = x_shape[1];
size_t row = size_t(thread_position_in_grid.z) * threads_per_grid.y + thread_position_in_grid.y;
for (int done = 0; done < n; done += 32) {
  int k = lane + done;
  float sum = 0;
  for (int at = 0; at < int(row); ++at) sum += x[at];
  if (k < n) {
    y[row * n + k] = sum;
  }
}
