// Bits of a float.
// input: x = float32[8] normal
// output: y = float32[4]
// grid: 4
// error: invalid operands to binary expression \('const float' and 'int'\) at 6:13
y[0] = x[0] << 2;
