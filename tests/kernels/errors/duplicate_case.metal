// A case twice.
// input: n = int32[8] arange
// output: y = int32[4]
// grid: 4
// error: duplicate case value '3' at 8:8
switch (n[0]) {
  case 3: y[0] = 1; break;
  case 1 + 2: y[0] = 2; break;
}
