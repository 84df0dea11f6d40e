// A kernel returns nothing.
// output: y = float32[4]
// grid: 4
// error: void function '.*' should not return a value at 5:1
return 1;
