// A float beyond the range of int.
// input: x = float32[4] [1.0, -3.5, 2147483520.0, 3e9]
// output: y = int32[4]
// grid: 4
// threadgroup: 4
uint i = thread_position_in_grid.x;
y[i] = int(x[i]);  // finds: float-to-int
