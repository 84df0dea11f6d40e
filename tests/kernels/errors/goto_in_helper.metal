// A jump to the end of a function.
// output: y = int32[4]
// grid: 4
// error: 'goto' is not supported in Metal: use loops at 7:14
// header:
int f(int v) {
  if (v < 0) goto end;
  v *= 2;
end:
  return v;
}
// body:
y[0] = f(1);
