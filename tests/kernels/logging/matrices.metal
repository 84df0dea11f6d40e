// What is no number, vector or pointer cannot be printed.
// output: y = int32[1]
// grid: 1
// threadgroup: 1
// error: os_log prints numbers, vectors and pointers at 6:16
os_log_default.log("%f", float2x2(1));
y[0] = 1;
