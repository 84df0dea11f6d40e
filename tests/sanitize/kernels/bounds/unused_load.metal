// A load whose value nobody uses.
// input: x = float32[64]
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// init: 0
uint i = thread_position_in_grid.x;
float unused = x[i + 60];  // finds: bounds-read
(void)unused;
y[i] = i;
