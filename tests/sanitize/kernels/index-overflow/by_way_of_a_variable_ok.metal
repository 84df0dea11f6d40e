// In 64 bits, and small enough.
// input: stride = int32[2] [32, 1]
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
size_t at = size_t(i / 32) * stride[0];
at += i % 32 * stride[1];
float v = x[at];
y[i] = v;
