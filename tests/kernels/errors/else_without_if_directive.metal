// Conditions of the preprocessor must match.
// output: y = int32[4]
// grid: 4
// error: unterminated conditional directive at 5:2
#ifdef __METAL__
y[0] = 1;
