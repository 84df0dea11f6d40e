// `long` has 64 bits, and `long long` does not exist.
// output: y = int64[4]
// grid: 4
// error: 'long long' is not supported in Metal: 'long' has 64 bits at 5:10
unsigned long long n = 1;
y[thread_position_in_grid.x] = n;
