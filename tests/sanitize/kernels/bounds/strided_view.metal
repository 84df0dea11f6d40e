// A view whose elements are further apart than it has room.
// input: x = float32[8, 8]
// view: x = x[:, ::2]
// output: y = float32[8, 4]
// grid: 4 8
// threadgroup: 4 8
// row_contiguous: false
uint2 p = thread_position_in_grid.xy;
y[p.y * 4 + p.x] = x[p.y * x_strides[0] + p.x * 4];  // finds: bounds-read
