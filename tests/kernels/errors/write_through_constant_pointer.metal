// Nor can anything through a pointer to constant.
// output: y = int32[4]
// grid: 4
// error: (const|read-only) at 7:41
// header:
constant int one = 1;
inline void set(constant int* p) { p[0] = 2; }
// body:
set(&one);
y[thread_position_in_grid.x] = one;
