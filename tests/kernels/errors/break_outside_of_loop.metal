// Nothing to leave.
// output: y = float32[4]
// grid: 4
// error: 'break' statement not in loop or switch at 5:15
if (y[0] > 0) break;
