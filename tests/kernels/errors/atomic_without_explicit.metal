// The short names of C++.
// output: y = int32[4]
// grid: 4
// error: 'atomic_fetch_add' at 5:1
atomic_fetch_add((device atomic_int*)y, 1);
