// Run-time types.
// output: y = int32[4]
// grid: 4
// error: 'typeid' is not supported in Metal: there is no run-time type information at 5:8
y[0] = typeid(int) == typeid(float);
