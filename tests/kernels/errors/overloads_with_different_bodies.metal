// Address spaces are one here, so the bodies of such overloads must be the same.
// output: y = int32[4]
// grid: 4
// error: these overloads differ in address spaces and in their bodies at 7:12
// header:
inline int where(device int*) { return 1; }
inline int where(threadgroup int*) { return 2; }
// body:
threadgroup int slots[2];
y[thread_position_in_grid.x] = where(slots);
