// A case in the scope of a variable that it skips.
// input: n = int32[8] arange
// output: y = int32[4]
// grid: 4
// error: cannot jump from switch statement to this case label at 8:3
switch (n[0]) {
  case 0: int v = 1; y[0] = v; break;
  default: y[0] = 2;
}
