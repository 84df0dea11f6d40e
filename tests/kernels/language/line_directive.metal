// A text that says where it comes from.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 70
// header:
#line 70 "somewhere.metal"
constant int here = __LINE__;
// body:
y[thread_position_in_grid.x] = x[thread_position_in_grid.x] + here;
