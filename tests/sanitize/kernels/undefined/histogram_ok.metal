// They are 0.
// input: x = int32[64] integers(0, 64)
// output: y = uint32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint counts[4] = {0, 0, 0, 0};
for (uint k = 0; k < 8; ++k) {
  counts[(x[i] + k) % 4] += 1;
}
y[i] = counts[i % 4];
