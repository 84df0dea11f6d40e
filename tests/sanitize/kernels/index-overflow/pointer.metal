// A pointer moves by the wrapped product.
// input: n = uint32 1073741824
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
const device float* row = x + (i & 3) * 4 * n;  // finds: index-overflow
y[i] = row[i];
