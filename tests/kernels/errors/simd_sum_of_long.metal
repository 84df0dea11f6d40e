// Nor 64-bit integers.
// output: y = int64[4]
// grid: 4
// error: simd_sum at 5:8
y[0] = metal::simd_sum(1L);
