// Of two outputs one is written by the first thread only.
// input: x = float32[64] normal
// output: y = float32[64]
// output: z = float32[8]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
y[i] = x[i];
if (i == 0) z[0] = x[0];  // finds: unwritten-output
