// xyzw and rgba do not mix.
// output: y = float32[4]
// grid: 4
// error: 'xg' at 6:10
float4 v = 1;
y[0] = v.xg.x;
