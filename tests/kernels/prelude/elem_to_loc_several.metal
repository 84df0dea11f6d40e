// Offsets into two and three arrays of one shape at once.
// input: a = float32[4, 3, 5] integers(-9, 9)
// input: b = float32[5, 3, 4] integers(-9, 9)
// view: b = mx.transpose(b, (2, 1, 0))
// input: c = float32[3, 5, 4] integers(-9, 9)
// view: c = mx.transpose(c, (2, 0, 1))
// output: y = float32[4, 3, 5]
// output: z = float32[4, 3, 5]
// row_contiguous: false
// grid: 5 3 4
// threadgroup: 5 3 2
// expect: y = a - b
// expect: z = a + b * c
uint3 at = thread_position_in_grid;
uint out = (at.z * 3 + at.y) * 5 + at.x;
auto two = elem_to_loc_2_nd<uint>(at, a_shape, a_strides, b_strides, a_ndim);
auto three = elem_to_loc_3_nd(at, a_shape, a_strides, b_strides, c_strides, a_ndim);
static_assert(is_same_v<decltype(two), uint2> && is_same_v<decltype(three), long3>);
y[out] = a[two.x] - b[two.y];
z[out] = a[three.x] + b[three.y] * c[three.z];
