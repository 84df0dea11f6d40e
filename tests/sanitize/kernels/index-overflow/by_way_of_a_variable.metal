// The index is computed somewhere else.
// input: stride = int32[2] [65536, 1]
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint at = i / 32 * 65536 * stride[0];
at += i % 32 * stride[1];
float v = x[at];  // finds: index-overflow
y[i] = v;
