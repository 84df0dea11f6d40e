// Components that are not set move to the front.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
half4 v;
v.xy = half2(x[i], 1);
y[i] = float(v.wzyx.x);  // finds: undefined-output
