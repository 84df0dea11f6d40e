// A helper of the header with one parameter.
// output: y = float32[4]
// grid: 4
// error: no matching function for call to 'half_of'[^\0]*requires single argument at 8:8
// header:
float half_of(float v) { return v / 2; }
// body:
y[0] = half_of(1, 2);
