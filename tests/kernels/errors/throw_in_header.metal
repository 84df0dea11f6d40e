// An exception in a helper.
// output: y = int32[4]
// grid: 4
// error: 'throw' is not supported in Metal: there are no exceptions at 8:14
// header:
int checked(int v) {
  // A negative number is an error.
  if (v < 0) throw v;
  return v;
}
// body:
y[0] = checked(1);
