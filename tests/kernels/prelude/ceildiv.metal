// Quotients rounded up, in the types of the arguments.
// input: x = int32[50] integers(0, 1000)
// output: y = int32[50]
// output: z = uint64[1]
// grid: 50
// threadgroup: 32
// expect: y = -(-x // 7)
// expect: z = [2**33]
uint i = thread_position_in_grid.x;
y[i] = ceildiv(x[i], 7);
if (i == 0) z[0] = ceildiv((1ul << 36) - 3, 8u);
