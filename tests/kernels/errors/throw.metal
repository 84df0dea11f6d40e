// Metal has no exceptions: throw.
// output: y = int32[4]
// grid: 4
// error: source:6:12: error: 'throw' is not supported in Metal: there are no exceptions[^\0]*\n1 error generated at 6:12
uint t = thread_position_in_grid.x;
if (t > 9) throw 1;
y[t] = 1;
