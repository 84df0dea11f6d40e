// A case label must be a constant.
// input: n = int32[8] arange
// output: y = int32[4]
// grid: 4
// error: not a constant expression at 8:8
switch (n[0]) {
  case 0: y[0] = 1; break;
  case n[1]: y[0] = 2; break;
}
