// A pointer to an input that may be written through.
// input: x = float32[8] normal
// output: y = float32[4]
// grid: 4
// error: cannot initialize a variable of type 'float \*' at 6:15
device float* p = x;
p[0] = 1;
