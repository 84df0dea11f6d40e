// NaN is no number of any type.
// input: x = float32[4] [1.0, 0.0, np.nan, 4.0]
// output: y = int32[4]
// grid: 4
// threadgroup: 4
uint i = thread_position_in_grid.x;
y[i] = static_cast<int>(rint(x[i]));  // finds: float-to-int
