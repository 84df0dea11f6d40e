// The same inside of a namespace.
// output: y = float32[4]
// grid: 4
// error: variable in constant address space must be initialized at 7:16
// header:
namespace settings {
constant float threshold;
}
// body:
y[0] = settings::threshold;
