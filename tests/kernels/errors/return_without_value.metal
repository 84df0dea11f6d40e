// A function that must return a number.
// output: y = float32[4]
// grid: 4
// error: non-void function 'f' should return a value at 6:27
// header:
float f(float v) { if (v) return; return 1; }
// body:
y[0] = f(1);
