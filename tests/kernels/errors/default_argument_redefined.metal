// Overloads by address space with different bodies, which Clang reports at a default argument.
// output: y = float32[4]
// grid: 4
// error: these overloads differ in address spaces and in their bodies at 7:43
// header:
inline float at(device float* p, int i = 0) { return p[i]; }
inline float at(threadgroup float* p, int i = 0) { return -p[i]; }
// body:
y[thread_position_in_grid.x] = at(y);
