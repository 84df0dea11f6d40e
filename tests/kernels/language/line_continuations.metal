// A backslash at the end joins lines, in macros, in statements and in comments.
// input: x = int32[40] random
// output: y = int32[40]
// grid: 40
// threadgroup: 32
// expect: y = x ^ 3
// header:
#define TWO_\
LINES(v) \
  ((v) ^ \
   3)
// body:
uint t \
= thread_position_in_grid.x;
y[t] = TWO_LINES(x[t]); // a comment that goes on \
y[t] = 5;
