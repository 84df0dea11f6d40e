// elem_to_loc_1, _2 and _3 for one, two and three axes.
// input: a = int32[40] arange
// view: a = a[::4]
// input: b = int32[6, 10] arange
// view: b = b.T
// input: c = int32[2, 3, 4] arange
// view: c = mx.transpose(c, (1, 2, 0))
// output: y = int32[10]
// output: z = int32[10, 6]
// output: w = int32[3, 4, 2]
// row_contiguous: false
// grid: 6 10
// threadgroup: 6 5
// expect: y = a
// expect: z = b
// expect: w = c
uint2 at = thread_position_in_grid.xy;
if (at.x == 0) y[at.y] = a[elem_to_loc_1(at.y, a_strides[0])];
z[at.y * 6 + at.x] = b[elem_to_loc_2(at, b_strides)];
if (at.y < 4) {
  uint3 p(at.x % 2, at.y, at.x / 2);
  w[(p.z * 4 + p.y) * 2 + p.x] = c[elem_to_loc_3<int>(p, c_strides)];
}
