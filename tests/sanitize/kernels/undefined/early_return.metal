// Threads that return early leave their elements as they are.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
if (x[i] < 0) return;
y[i] = sqrt(x[i]);  // finds: unwritten-output
