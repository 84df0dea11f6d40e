// A directive that does not exist.
// output: y = int32[4]
// grid: 4
// error: invalid preprocessing directive at 5:2
#defin N 4
y[0] = N;
