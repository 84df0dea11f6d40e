// Metal's own functions take no bool.
// output: y = float32[4]
// grid: 4
// error: simd_sum at 5:8
y[0] = metal::simd_sum(true);
