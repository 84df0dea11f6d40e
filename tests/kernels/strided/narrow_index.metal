// 8-bit indices wrap before they address.
// input: x = int32[256] random
// output: y = int32[300]
// grid: 300
// threadgroup: 64
// expect: y = x[(tid * 3 + 250) % 256]
uint i = thread_position_in_grid.x;
uchar at = i * 3 + 250;
y[i] = x[at];
