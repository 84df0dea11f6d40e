// clamp wants three.
// input: x = float32[4] normal
// output: y = float32[4]
// grid: 4
// error: no matching function for call to 'clamp' at 6:8
y[0] = clamp(x[0], 1.0f);
