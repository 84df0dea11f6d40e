// Arrays are not assigned.
// output: y = float32[4]
// grid: 4
// error: array type .* is not assignable at 6:3
float a[2] = {1, 2}, b[2];
b = a;
y[0] = b[0];
