// The value of a program-scope constant must be known to the compiler.
// output: y = float32[4]
// grid: 4
// error: initializer of 'scale' in constant address space is not a constant expression at 7:16
// header:
inline float twice(float v) { return 2 * v; }
constant float scale = twice(3);
// body:
y[thread_position_in_grid.x] = scale;
