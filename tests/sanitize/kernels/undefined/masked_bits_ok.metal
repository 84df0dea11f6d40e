// Only the lower half is used.
// input: x = int32[64] integers(0, 64)
// output: y = uint32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
uint word;
ushort low = ushort(x[i]);
thread ushort* parts = (thread ushort*)&word;
parts[0] = low;
y[i] = (word >> 4) & 0xff;
