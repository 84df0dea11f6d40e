// Nothing to go on with.
// output: y = float32[4]
// grid: 4
// error: 'continue' statement not in loop at 5:1
continue;
