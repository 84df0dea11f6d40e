// An input as a counter.
// input: x = float32[16] normal
// output: y = float32[4]
// grid: 4
// error: read-only variable is not assignable[^\0]*hint: inputs cannot be written at 6:5
x[0]++;
