// Both are.
// output: y = uint16[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
((device uchar*)y)[2 * i] = uchar(i);
((device uchar*)y)[2 * i + 1] = 0;
