// Component-wise operators, swizzles on both sides.
// input: x = float32[40, 4] integers(-20, 20)
// output: y = float32[40, 4]
// grid: 40
// threadgroup: 32
// where:
//     a = x[:, [3, 2, 1, 0]] * 2 + x
//     b = a.copy()
//     b[:, [0, 2]] = a[:, [1, 1]] - 1
//     b[:, 3] += 100
// expect: y = b
uint i = thread_position_in_grid.x;
float4 v = float4(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]);
float4 a = v.wzyx * 2 + v;
a.xz = a.gg - 1;
a.w += 100;
y[4 * i] = a.x;
y[4 * i + 1] = a.y;
y[4 * i + 2] = a.z;
y[4 * i + 3] = a[3];
