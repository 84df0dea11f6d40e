// Braces do not narrow.
// input: n = int32[8] arange
// output: y = uint8[4]
// grid: 4
// error: cannot be narrowed from type 'int32_t' to 'uchar' at 6:9
uchar b{n[0]};
y[0] = b;
