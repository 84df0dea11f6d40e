// A float4 at an address that is no multiple of 16.
// input: x = float32[68]
// output: y = float32[16]
// grid: 16
// threadgroup: 16
uint i = thread_position_in_grid.x;
float4 v = *(const device float4*)(x + 4 * i + 1);  // finds: misaligned
y[i] = v.x + v.w;
