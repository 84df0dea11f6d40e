// A scatter with an index that comes twice.
// input: x = float32[64] normal
// input: at = int32[64] np.arange(64)[::-1] // 2
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// init: 0
uint i = thread_position_in_grid.x;
y[at[i]] = x[i];  // finds: race-device
