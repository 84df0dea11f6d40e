// A buffer of floats is no buffer of integers without a cast.
// input: x = float32[8] normal
// output: y = float32[4]
// grid: 4
// error: cannot initialize a variable of type 'const int \*' with .* 'const float \*' at 6:19
const device int* p = x;
y[0] = p[0];
