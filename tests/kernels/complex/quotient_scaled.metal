// Scaled division neither overflows nor vanishes.
// input: x = complex64[4] [1e30 + 1e30j, 1e-20j, 3e38, 1]
// input: z = complex64[4] [2e30 - 1e30j, 1e-20 + 1e-20j, 1e38 + 1e38j, 1e20j]
// output: y = complex64[4]
// grid: 4
// threadgroup: 32
// expect: y = x.astype(complex) / z
// close: 1e-6
uint i = thread_position_in_grid.x;
y[i] = x[i] / z[i];
