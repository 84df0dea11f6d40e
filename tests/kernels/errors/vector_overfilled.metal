// A vector's constructor is filled exactly.
// output: y = float32[4]
// grid: 4
// error: no matching (constructor|conversion) at 5:12
float3 v = float3(float2(1, 2), float2(3, 4));
y[thread_position_in_grid.x] = v.x;
