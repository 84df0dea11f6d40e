// The words of C for 64 bits.
// output: y = uint64[4]
// grid: 4
// error: 'long long' is not supported in Metal: 'long' has 64 bits at 5:10
unsigned long long v = 1;
y[0] = v;
