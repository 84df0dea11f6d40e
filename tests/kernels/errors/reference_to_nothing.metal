// A reference without something to refer to.
// output: y = float32[4]
// grid: 4
// error: requires an initializer at 5:15
thread float& r;
