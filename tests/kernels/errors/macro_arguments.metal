// A macro of two parameters.
// output: y = float32[4]
// grid: 4
// error: too few arguments provided to function-like macro invocation at 6:16
#define ADD(a, b) ((a) + (b))
y[0] = ADD(1.0f);
