// An expression that does not end.
// output: y = float32[4]
// grid: 4
// error: expected '\)' at 5:24
y[0] = max(1.0f, (2.0f);
