// The same function twice stays an error.
// output: y = int32[4]
// grid: 4
// error: redefinition of 'f'\n at 7:5
// header:
int f(const device int* p) { return *p; }
int f(const device int* p) { return *p; }
// body:
y[thread_position_in_grid.x] = f(y);
