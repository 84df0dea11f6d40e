// Nor are its headers there.
// output: y = float32[4]
// grid: 4
// error: 'vector' file not found at 6:10
// header:
#include <vector>
// body:
y[thread_position_in_grid.x] = 1;
