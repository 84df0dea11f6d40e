// A negative stride, as an unsigned number: that is how MLX's guide counts.
// input: strides = int32[1] [-1]
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x, stride = strides[0];
const device float* last = x + 63;
y[i] = last[i * stride];
