// -0.9 without its fraction is 0.
// input: x = float32[4] [1.0, 0.0, -0.9, 4294967040.0]
// output: y = uint32[4]
// grid: 4
// threadgroup: 4
uint i = thread_position_in_grid.x;
uint v = x[i];
y[i] = v;
