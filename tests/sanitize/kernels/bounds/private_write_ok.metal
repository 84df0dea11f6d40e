// A private array that a loop leaves.
// input: x = float32[64]
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// init: 0
uint i = thread_position_in_grid.x;
float best[4];
for (int k = 0; k < 4; ++k) best[k] = x[i] * k;
float sum = 0;
for (int k = 0; k < 4; ++k) sum += best[k];
y[i] = sum;
