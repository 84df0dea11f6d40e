// A function constant that nobody sets counts as zero.
// input: x = float32[40] integers(-9, 9)
// output: y = float32[40]
// grid: 40
// threadgroup: 32
// expect: y = x + 1
// header:
constant bool has_bias [[function_constant(3)]];
constant float extra [[function_constant(4)]];
// body:
uint t = thread_position_in_grid.x;
y[t] = x[t] + (has_bias ? 100 : 1) + extra;
