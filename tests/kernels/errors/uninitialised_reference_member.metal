// A struct with a reference needs a constructor or braces.
// output: y = float32[4]
// grid: 4
// error: Holder at 8:8
// header:
struct Holder { thread float& r; };
// body:
Holder h;
y[0] = h.r;
