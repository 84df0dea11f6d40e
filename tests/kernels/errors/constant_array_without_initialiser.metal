// A table that nobody fills.
// output: y = int32[4]
// grid: 4
// error: variable in constant address space must be initialized at 6:14
// header:
constant int table[4];
// body:
y[0] = table[1];
