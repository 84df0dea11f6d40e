// A number of bits that is known when compiling.
// output: y = uint32[8]
// grid: 8
// threadgroup: 8
// header:
#define BITS 32
// body:
uint i = thread_position_in_grid.x;
y[i] = i * (1u << BITS);  // finds: shift-count
