// An index into a private array that comes from data.
// input: at = int32[64] np.arange(64) % 9
// output: y = float32[64]
// grid: 64
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
y[i] = v[at[i]];  // finds: bounds-read
