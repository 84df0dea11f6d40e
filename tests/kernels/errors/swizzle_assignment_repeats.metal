// A component may be assigned once only.
// output: y = float32[4]
// grid: 4
// error: error at 6:3
float2 v = float2(1, 2);
v.xx = float2(3, 4);
y[thread_position_in_grid.x] = v.x;
