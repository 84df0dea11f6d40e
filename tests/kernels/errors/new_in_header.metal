// An allocation in a helper.
// output: y = int32[4]
// grid: 4
// error: 'new' is not supported in Metal: there is no heap at 6:36
// header:
thread float* room(int n) { return new float[n]; }
// body:
y[0] = room(3)[0];
