// Literals without a suffix beside half, in a kernel that is a template.
// dtypes: float32 float16
// input: x = T[96] normal
// output: y = T[96]
// output: z = T[96]
// grid: 96
// threadgroup: 32
// where: wide = x.astype(np.float64)
// expect: y = wide * 0.1 + 1
// expect: z = np.where(wide < 0.25, wide, wide + 0.375)
// close: 2e-3 1e-3
uint i = thread_position_in_grid.x;
T sum = 1.0;
sum += x[i] * 0.1;
y[i] = sum;
z[i] = x[i] < 0.25 ? x[i] : x[i] + 0.375;
