// Three components for a vector of four.
// output: y = float32[4]
// grid: 4
// error: no matching constructor for initialization at 5:12
float4 v = float4(float2(1), 2);
y[0] = v.x;
