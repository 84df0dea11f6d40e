// A constant of the kernel is written.
// output: y = float32[4]
// grid: 4
// error: cannot assign to variable 'n' with const-qualified type at 6:3
const int n = 3;
n = 4;
y[0] = n;
