// `%` is for integers.
// input: x = float32[8] normal
// output: y = float32[4]
// grid: 4
// error: invalid operands to binary expression at 6:13
y[0] = x[0] % 2.0f;
