// A vector of four for one of three.
// output: y = float32[4]
// grid: 4
// error: float at 6:12
float4 v = 1;
float3 w = float3(v);
y[0] = w.x;
