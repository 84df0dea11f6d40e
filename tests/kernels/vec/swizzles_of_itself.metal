// A vector assigned to names of its own components: all are read before any is written.
// input: x = int32[4, 4] integers(-100, 100)
// output: y = int32[4, 4]
// grid: 1
// expect: y = np.stack([x[0, [1, 3, 2, 0]], x[1, [1, 0, 2, 3]], x[2, [1, 2, 0, 3]], x[3, [3, 2, 1, 0]]])
const device int4* from = (const device int4*)x;
device int4* to = (device int4*)y;
int4 a = from[0], b = from[1];
a.wxzy = a;
b.xy = b.yx;
int3 c = int3(from[2].xyz);
c.zxy = c;
packed_int4 d = packed_int4(from[3]);
d.wzyx = int4(d);
to[0] = a;
to[1] = b;
to[2] = int4(c, from[2].w);
to[3] = int4(d);
