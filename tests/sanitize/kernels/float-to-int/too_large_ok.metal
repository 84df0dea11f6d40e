// The last floats in the range of int, and of uint.
// input: x = float32[4] [1.0, -2147483648.0, 2147483520.0, 0.0]
// output: y = int32[4]
// grid: 4
// threadgroup: 4
uint i = thread_position_in_grid.x;
y[i] = int(x[i]) + int(uint(abs(x[i])));
