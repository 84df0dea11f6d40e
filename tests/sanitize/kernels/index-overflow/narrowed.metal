// 64 bits, of which 32 are kept.
// input: batch = int64[1] [4294967296]
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint at = batch[0] * (i / 32) + i;
y[i] = x[at];  // finds: index-overflow
