// The last float4 leaves the array by two floats.
// input: x = float32[62]
// output: y = float32[16]
// grid: 16
// threadgroup: 16
uint i = thread_position_in_grid.x;
float4 v = ((const device packed_float4*)x)[i];  // finds: bounds-read
y[i] = v.x + v.y + v.z + v.w;
