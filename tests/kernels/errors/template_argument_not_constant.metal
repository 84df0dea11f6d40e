// The size of an array must be known when compiling.
// input: n = int32[8] arange
// output: y = float32[4]
// grid: 4
// error: invalid explicitly-specified argument for template parameter 'N' at 9:8
// header:
template <int N> int twice() { return 2 * N; }
// body:
y[0] = twice<n[0]>();
