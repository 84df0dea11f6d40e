// The same in a typedef of the header.
// output: y = int64[4]
// grid: 4
// error: 'long long' is not supported in Metal at 6:9
// header:
typedef long long int wide;
// body:
y[0] = wide(1);
