// Two functions that fit equally well.
// output: y = float32[4]
// grid: 4
// error: call to 'both' is ambiguous[^\0]*hint: give the arguments one type at 9:8
// header:
inline float both(float a, int b) { return a + b; }
inline float both(int a, float b) { return a - b; }
// body:
y[0] = both(1, 1);
