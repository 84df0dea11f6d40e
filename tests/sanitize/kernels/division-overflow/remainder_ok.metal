// By another one.
// input: x = int32[4] [-2147483648, -7, 7, 2147483647]
// output: y = int32[4]
// grid: 4
// threadgroup: 4
uint i = thread_position_in_grid.x;
y[i] = x[i] % -3;
