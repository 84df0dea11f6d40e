// Numbers of other types assigned to whole vectors, which they fill.
// input: x = int32[40] integers(-9, 9)
// output: y = float32[160]
// grid: 40
// expect: y = np.repeat(x, 4) + 1 + 2 + 0.5
uint t = thread_position_in_grid.x;
float4 v;
v = x[t];
float4 list[2];
list[1] = 1;
half4 h;
h = 2u;
device float4* out = (device float4*)y;
out[t] = 0.5h;
out[t] += v + list[1] + float4(h);
