// Four columns times three rows.
// output: y = float32[4]
// grid: 4
// error: invalid operands to binary expression at 5:24
float3 v = float3x3(1) * float4(1);
y[0] = v.x;
