// A vector that simd_sum takes, added to a vector of another width.
// output: y = float32[4]
// grid: 4
// error: invalid operands to binary expression at 5:32
float3 v = simd_sum(float3(1)) + float2(1);
