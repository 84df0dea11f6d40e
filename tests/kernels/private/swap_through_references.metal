// Two variables whose addresses are chosen at run time.
// input: x = int32[64] integers(0, 1)
// output: y = int32[64]
// grid: 64
// threadgroup: 32
// expect: y = np.where(x == 1, 1007, 2005)
uint t = thread_position_in_grid.x;
int a = 5;
int b = 7;
thread int* p = x[t] ? &a : &b;
*p += x[t] ? 1002 : 1998;
y[t] = a > 1000 ? a : b;
