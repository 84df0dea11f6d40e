// Reductions of floats, and of NaN by min and max.
// input: x = T[64] integers(-4, 4)
// output: total = T[64]
// output: product = T[64]
// output: least = T[64]
// output: most = T[64]
// dtypes: float32 float16 bfloat16
// grid: 64
// threadgroup: 64
// where:
//     rows = x.reshape(2, 32)
//     signs = np.where(rows < 0, -1.0, 1.0)
//     odd = np.where(np.arange(32) % 2 == 1, rows, np.nan)
// expect: total = rows.sum(axis=1).repeat(32)
// expect: product = signs.prod(axis=1).repeat(32)
// expect: least = np.nanmin(odd, axis=1).repeat(32)
// expect: most = np.nanmax(odd, axis=1).repeat(32)
uint i = thread_position_in_grid.x;
T value = x[i];
total[i] = simd_sum(value);
product[i] = simd_product(value < T(0) ? T(-1) : T(1));
T odd = i % 2 == 1 ? value : T(NAN);
least[i] = simd_min(odd);
most[i] = simd_max(odd);
