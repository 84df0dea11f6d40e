// A comment that does not end.
// output: y = int32[4]
// grid: 4
// error: unterminated /\* comment at 6:11
y[0] = 1;
y[1] = 2; /* and so on
