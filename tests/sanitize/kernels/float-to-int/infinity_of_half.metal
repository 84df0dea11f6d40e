// Infinity is the only half that an int has no room for.
// input: x = float16[4] [1, 65504, np.inf, -65504]
// output: y = int32[4]
// grid: 4
// threadgroup: 4
uint i = thread_position_in_grid.x;
y[i] = int(x[i]);  // finds: float-to-int
