// Outputs have no shape.
// output: y = float32[4]
// grid: 4
// error: undeclared identifier 'y_shape'[^\0]*hint: 'y' is an output at 5:8
y[0] = y_shape[0];
