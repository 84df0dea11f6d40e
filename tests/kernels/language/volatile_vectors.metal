// Whole vectors and components in volatile memory of every kind.
// input: x = float32[128] integers(-9, 9)
// output: y = float32[128]
// grid: 32
// threadgroup: 32
// where: r = x.reshape(32, 4)
// expect: y = r * [1, 2, 1, 1] + [0, 0, 1, 0]
threadgroup volatile float4 cells[32];
const uint t = thread_position_in_grid.x;
const volatile device float4* in = (const volatile device float4*)x;
volatile device float4* out = (volatile device float4*)y;
cells[t] = in[t];
cells[t].y *= 2;
volatile float4 own = float4(0);
own.z = 1;
float4 v = cells[t];
const float4 w = own;
out[t] = v + w;
out[t].x = cells[t].x;
