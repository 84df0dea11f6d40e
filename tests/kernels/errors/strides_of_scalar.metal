// A number has no strides.
// input: n = float32 2
// output: y = float32[4]
// grid: 4
// error: hint: 'n' is a scalar \(0-d\) in this call at 6:8
y[0] = n_strides[0];
