// Several components have no address.
// output: y = float32[4]
// grid: 4
// error: address at 6:20
float4 v = 1;
thread float2* p = &v.xy;
y[0] = p->x;
