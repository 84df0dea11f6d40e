// %n would write to memory.
// output: y = int32[1]
// grid: 1
// threadgroup: 1
// error: '%n' is not supported in Metal at 6:48
os_log_default.log_error("%5.2f%n", 0.5f, &y[0]);
