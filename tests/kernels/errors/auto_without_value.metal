// Nothing to deduce a type from.
// output: y = float32[4]
// grid: 4
// error: declaration of variable 'v' with deduced type 'auto' requires an initializer at 5:6
auto v;
y[0] = 1;
