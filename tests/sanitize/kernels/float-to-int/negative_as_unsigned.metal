// A negative number as uint.
// input: x = float32[4] [1.0, 0.0, -1.0, 4.0]
// output: y = uint32[4]
// grid: 4
// threadgroup: 4
uint i = thread_position_in_grid.x;
uint v = x[i];  // finds: float-to-int
y[i] = v;
