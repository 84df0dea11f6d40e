// Metal has no strings.
// output: y = int32[1]
// grid: 1
// threadgroup: 1
// error: '%s' is not supported in Metal at 6:43
os_log_default.log("%d%% of %s", 50, "all");
y[0] = 1;
