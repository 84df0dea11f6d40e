// One bit less.
// output: y = uint32[8]
// grid: 8
// threadgroup: 8
// header:
#define BITS 31
// body:
uint i = thread_position_in_grid.x;
y[i] = i * (1u << BITS);
