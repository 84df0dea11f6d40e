// Row and column from the shape parameter.
// input: x = float32[7, 13] normal
// output: y = float32[13, 7]
// grid: 91
// threadgroup: 32
// expect: y = x.T
uint i = thread_position_in_grid.x;
uint rows = x_shape[0];
uint columns = x_shape[1];
uint row = i / columns;
uint column = i % columns;
y[column * rows + row] = x[i];
