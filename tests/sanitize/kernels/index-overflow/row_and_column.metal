// Row 4096 of 2^20 columns: the index is that of row 0.
// input: columns = uint32 1048576
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint row = i / 32 * 4096, column = i % 32;
y[i] = x[row * columns + column];  // finds: index-overflow
