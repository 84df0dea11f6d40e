// An error inside of a macro: the line that uses it, and the macro.
// output: y = float32[4]
// grid: 4
// error: undeclared identifier 'missing_name'[^\0]*expanded from macro 'USE' at 8:8
// header:
#define USE(v) (missing_name + (v))
// body:
y[0] = USE(1);
