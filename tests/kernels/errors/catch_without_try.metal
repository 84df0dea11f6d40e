// `catch` alone.
// output: y = int32[4]
// grid: 4
// error: 'catch' is not supported in Metal at 5:11
y[0] = 1; catch (...) {}
