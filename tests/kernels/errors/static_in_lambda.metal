// A counter that would outlive the call.
// output: y = int32[4]
// grid: 4
// error: static variable 'n' must reside in constant address space at 5:30
auto count = [] { static int n = 0; return ++n; };
y[0] = count();
