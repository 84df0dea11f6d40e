// A function that exists to be refused.
// output: y = float32[4]
// grid: 4
// error: call to deleted function 'only_ints' at 9:8
// header:
inline int only_ints(int v) { return v; }
int only_ints(float) = delete;
// body:
y[0] = only_ints(1.0f);
