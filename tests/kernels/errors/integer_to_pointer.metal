// A number is no address.
// input: x = float32[8] normal
// output: y = float32[4]
// grid: 4
// error: cannot initialize a variable of type at 6:21
const device float* p = 16;
y[0] = p[0];
