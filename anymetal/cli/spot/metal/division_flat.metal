// One row of threads over a matrix: each finds its row and column by a division.
uint i = thread_position_in_grid.x;
uint width = x_shape[1];
uint row = i / width, column = i % width;
out[i] = x[i] * rows[row] + columns[column];
