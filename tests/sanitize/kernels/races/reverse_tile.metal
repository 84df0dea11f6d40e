// A tile is turned round; reading starts before all have written.
// input: x = float32[128] normal
// output: y = float32[128]
// grid: 128
// threadgroup: 64
threadgroup float tile[64];
uint l = thread_index_in_threadgroup;
uint i = thread_position_in_grid.x;
tile[l] = x[i];  // finds: race-threadgroup (either)
y[i] = tile[63 - l];  // finds: race-threadgroup (either), undefined-output
