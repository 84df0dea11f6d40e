// Two names for three members.
// output: y = float32[4]
// grid: 4
// error: binds to 3 elements, but only 2 names were provided at 6:6
struct { int a, b, c; } s = {1, 2, 3};
auto [p, q] = s;
y[0] = p;
