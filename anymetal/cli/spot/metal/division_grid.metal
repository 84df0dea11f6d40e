// A grid as wide as the matrix: each thread is told its row and column.
uint column = thread_position_in_grid.x, row = thread_position_in_grid.y;
uint i = row * threads_per_grid.x + column;
out[i] = x[i] * rows[row] + columns[column];
