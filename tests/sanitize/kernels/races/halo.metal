// Neighbours on both sides of a tile.
// input: x = float32[128] normal
// output: y = float32[128]
// grid: 128
// threadgroup: 64
threadgroup float tile[66];
uint l = thread_index_in_threadgroup;
uint i = thread_position_in_grid.x;
tile[l + 1] = x[i];  // finds: race-threadgroup (either)
if (l == 0) {
  tile[0] = i > 0 ? x[i - 1] : 0;  // finds: race-threadgroup (either)
}
if (l == 63) {
  tile[65] = i < 127 ? x[i + 1] : 0;  // finds: race-threadgroup (either)
}
y[i] = tile[l] + tile[l + 1] + tile[l + 2];  // finds: race-threadgroup (either), undefined-output
