// Inputs of fewer than 8 elements live in constant space; an index into them may vary.
// input: x = int32[64] integers(0, 1000)
// input: table = float32[7] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// expect: y = table[x % 7]
uint i = thread_position_in_grid.x;
y[i] = table[x[i] % 7];
