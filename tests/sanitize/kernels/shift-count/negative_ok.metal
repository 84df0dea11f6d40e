// The other way.
// input: n = int32[8] arange
// output: y = uint32[8]
// grid: 8
// threadgroup: 8
uint i = thread_position_in_grid.x;
int s = n[i] - 2;
y[i] = s < 0 ? 0xf0f0u << -s : 0xf0f0u >> s;
