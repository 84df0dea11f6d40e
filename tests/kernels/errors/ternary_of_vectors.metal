// A condition must be one bool.
// output: y = float32[4]
// grid: 4
// error: bool at 6:12
float4 v = 1;
float4 w = v > 0 ? v : -v;
y[0] = w.x;
