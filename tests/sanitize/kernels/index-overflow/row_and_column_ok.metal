// The array is no larger than 32 bits count.
// input: columns = uint32 32
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint row = i / 32, column = i % 32;
y[i] = x[row * columns + column];
