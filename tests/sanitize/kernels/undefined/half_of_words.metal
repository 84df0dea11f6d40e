// Only the first byte of each element is written.
// output: y = uint16[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
((device uchar*)y)[2 * i] = uchar(i);  // finds: unwritten-output
