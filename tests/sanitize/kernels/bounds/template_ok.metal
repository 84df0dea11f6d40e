// A template parameter that is larger than the array.
// input: x = float32[64]
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// template: N=4
uint i = thread_position_in_grid.x;
float sum = 0;
for (int k = 0; k < N; ++k) sum += x[(i & ~3u) + k];
y[i] = sum;
