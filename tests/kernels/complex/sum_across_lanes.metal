// A butterfly of shuffles adds 32 complex numbers.
// input: x = complex64[32] integers(-9, 9) + 1j * integers(-9, 9)
// output: y = complex64[1]
// grid: 32
// threadgroup: 32
// expect: y = [x.sum()]
uint i = thread_position_in_grid.x;
complex64_t total = x[i];
for (uint16_t step = 16; step > 0; step >>= 1) total += simd_shuffle_down(total, step);
if (i == 0) y[0] = total;
