// A member that changes the object, called on a const one.
// output: y = float32[4]
// grid: 4
// error: function is not marked const at 10:8
// header:
struct Count { int n = 0; int next() { return ++n; } };
// body:
// The object cannot change.
const Count c;
y[0] = c.next();
