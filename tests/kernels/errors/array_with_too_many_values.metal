// Three values for an array of two.
// output: y = float32[4]
// grid: 4
// error: excess elements in array initializer at 5:21
float a[2] = {1, 2, 3};
y[0] = a[0];
