// Components on the left of every kind of assignment, through references and pointers.
// input: x = float32[32] integers(-9, 9)
// output: y = float32[128]
// grid: 32
// expect: y = np.stack([2 * x + 2, x + 5, 10 + 0 * x, -x], axis=1).ravel()
// header:
inline void bump(thread float4& v) { v.xz += float2(1, 2); }
// body:
uint t = thread_position_in_grid.x;
float4 v = float4(x[t], 5, 4, 0);
v.wy = v.xy;
bump(v);
thread float4* p = &v;
p->y += x[t];
p->z -= 1;
v.xz *= 2;
v.ga = v.ga * float2(1, -1);
v.rgba = v.xyzw;
device float4* out = (device float4*)y;
out[t].xy = v.xy;
out[t].zw = v.zw;
