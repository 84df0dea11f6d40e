// A power of a matrix in a loop, behind an early return of whole SIMD-groups.
// input: x = float32[8,8] uniform(-0.5, 0.5)
// input: n = int32 5
// output: y = float32[8,8]
// grid: 96
// threadgroup: 96
// expect: y = np.linalg.matrix_power(x.astype(np.float64), 6)
// close: 1e-4 1e-6
if (simdgroup_index_in_threadgroup != 1) return;
simdgroup_float8x8 m, power;
simdgroup_load(m, x);
power = m;
for (int i = 0; i < n; i++) simdgroup_multiply(power, power, m);
simdgroup_store(power, y);
