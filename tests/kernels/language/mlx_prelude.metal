// Helpers of MLX's prelude: ceildiv, Limits, the 3-D elem_to_loc.
// input: x = float32[3, 4, 5] normal
// view: x = mx.transpose(x, (2, 0, 1))
// output: y = float32[5, 3, 4]
// output: z = int32[3]
// row_contiguous: false
// grid: 4 3 5
// threadgroup: 4 2 2
// expect: y = x
// expect: z = [8, 2147483647, 0]
uint3 at = thread_position_in_grid;
y[(at.z * 3 + at.y) * 4 + at.x] = x[elem_to_loc(at, x_shape, x_strides, x_ndim)];
if (at.x + at.y + at.z == 0) {
  z[0] = ceildiv(50, 7);
  z[1] = Limits<int>::max;
  z[2] = Limits<uint8_t>::min;
}
