// A class with a variable of its own.
// output: y = int32[4]
// grid: 4
// error: 'Counter::n' must reside in constant address space at 7:14
// header:
struct Counter { static int n; };
int Counter::n = 0;
// body:
y[0] = Counter::n++;
