// A generic lambda that does not fit its argument.
// output: y = float32[4]
// grid: 4
// error: member reference base type 'float' is not a structure at 5:31
auto f = [](auto v) { return v.x; };
y[0] = f(1.0f);
