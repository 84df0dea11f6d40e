// The last line of the body is a directive.
// input: x = int32[40] random
// output: y = int32[40]
// grid: 40
// expect: y = x + 1
// header:
#define ONE 1
// body:
#ifdef ONE
y[thread_position_in_grid.x] = x[thread_position_in_grid.x] + ONE;
#endif
