// A pointer parameter of the kernel that walks, as most kernels write it.
// input: x = float32[320] integers(-9, 9)
// output: y = float32[32]
// grid: 32
// expect: y = x.reshape(10, 32).sum(0)
x += thread_position_in_grid.x;
y += thread_position_in_grid.x;
float sum = 0;
for (int i = 0; i < 10; ++i, x += 32) sum += *x;
*y = sum;
