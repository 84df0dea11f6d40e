// A variable of a class type, written by the kernel.
// output: y = int32[4]
// grid: 4
// error: program scope variable 'state' must reside in constant address space at 7:7
// header:
struct State { int n; };
State state;
// body:
state.n = 3;
y[0] = state.n;
