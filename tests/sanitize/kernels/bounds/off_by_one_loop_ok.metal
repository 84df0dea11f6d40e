// A loop that ends one iteration too late.
// input: x = float32[8, 16]
// output: y = float32[8]
// grid: 8
// threadgroup: 8
uint i = thread_position_in_grid.x;
float sum = 0;
for (uint k = 0; k < 16; ++k) sum += x[i * 16 + k];
y[i] = sum;
