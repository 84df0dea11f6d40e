// A static assertion says what it says.
// output: y = int32[4]
// grid: 4
// template: N=3
// error: static assertion failed[^\0]*N must be even at 6:15
static_assert(N % 2 == 0, "N must be even");
y[thread_position_in_grid.x] = N;
