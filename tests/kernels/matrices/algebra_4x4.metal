// 4 columns with 4 rows: sum, difference, negation, scaling, products with vectors and matrices.
// dtypes: float32 float16
// input: x = T[6, 16] integers(-4, 4)
// input: z = T[6, 16] integers(-4, 4)
// output: y = T[6, 16]
// output: c = T[6, 4]
// output: r = T[6, 4]
// output: p = T[6, 16]
// grid: 6
// threadgroup: 6
// where:
//     # A matrix of NumPy with its columns as rows: m[i, j] is column i, row j.
//     a, b = x.reshape(6, 4, 4), z.reshape(6, 4, 4)
// expect: y = (a + b) * 2 - -a * 3
// expect: c = np.einsum('tcr,tc->tr', a, b[:, :, 0])
// expect: r = np.einsum('tcr,tr->tc', a, b[:, 1])
// expect: p = np.einsum('tcr,tkr->tkc', a, b)
uint t = thread_position_in_grid.x;
using M = matrix<T, 4, 4>;
M a, b;
for (int i = 0; i < 4; ++i)
  for (int j = 0; j < 4; ++j) {
    a[i][j] = x[16 * t + 4 * i + j];
    b[i][j] = z[16 * t + 4 * i + j];
  }
M sum = (a + b) * T(2) - T(3) * -a;
vec<T, 4> column = a * transpose(b)[0];
vec<T, 4> row = b[1] * a;
matrix<T, 4, 4> product = transpose(a) * b;
for (int i = 0; i < 4; ++i) {
  for (int j = 0; j < 4; ++j) y[16 * t + 4 * i + j] = sum[i][j];
  for (int j = 0; j < 4; ++j) p[16 * t + 4 * i + j] = product[i][j];
  r[4 * t + i] = row[i];
}
for (int j = 0; j < 4; ++j) c[4 * t + j] = column[j];
