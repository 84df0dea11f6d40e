// More threads than elements, and no thread returns.
// input: x = float32[50]
// output: y = float32[50]
// grid: 64
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v = x[i];  // finds: bounds-read
y[i] = 2 * v;  // finds: bounds-write
