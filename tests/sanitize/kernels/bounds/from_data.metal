// An index that the data has, such as a token.
// input: table = float32[10, 4]
// input: tokens = int32[8] [0, 1, 9, 10, 3, 2, 1, 0]
// output: y = float32[8, 4]
// grid: 4 8
// threadgroup: 4 8
uint2 p = thread_position_in_grid.xy;
y[p.y * 4 + p.x] = table[tokens[p.y] * 4 + p.x];  // finds: bounds-read
