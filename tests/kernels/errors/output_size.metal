// An output has no size.
// output: y = float32[4]
// grid: 4
// error: hint: 'y' is an output at 5:8
y[0] = y_size;
