// A variable for each thread, outside of functions.
// output: y = int32[4]
// grid: 4
// error: 'thread_local' is not supported in Metal at 6:1
// header:
thread_local int mine = 1;
// body:
y[0] = mine;
