// An error in a text with a name and line numbers of its own.
// output: y = float32[4]
// grid: 4
// error: somewhere.metal:70:27: error: use of undeclared identifier 'unknown_thing'[^\0]*1 error generated at 70:27
// header:
#line 70 "somewhere.metal"
inline float f() { return unknown_thing; }
// body:
y[0] = f();
