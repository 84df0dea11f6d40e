// Tabs, and backslashes at the ends of lines.
// input: x = int32[8] arange
// output: y = int32[8]
// grid: 8
// expect: y = x + 3
// header:
#define ADD(a, b) \
  ((a) + \
   (b))
// body:
uint t = thread_position_in_grid.x;	// tabs, too
y[t] = ADD(x[t],	3);
