// A variable in a namespace.
// output: y = float32[4]
// grid: 4
// error: program scope variable 'weights::w' must reside in constant address space at 6:27
// header:
namespace weights { float w[3] = {1, 2, 3}; }
// body:
y[thread_position_in_grid.x] = weights::w[0];
