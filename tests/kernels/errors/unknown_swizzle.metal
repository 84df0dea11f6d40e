// A vector of two has no z.
// output: y = float32[4]
// grid: 4
// error: 'z' at 6:34
float2 v = float2(1, 2);
y[thread_position_in_grid.x] = v.z;
