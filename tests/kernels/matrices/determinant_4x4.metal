// Determinants of whole numbers, of the transposed and of singular matrices.
// dtypes: float32 float16
// input: x = T[20, 16] integers(-3, 3)
// output: y = T[20, 3]
// grid: 20
// threadgroup: 16
// where:
//     d = np.rint(np.linalg.det(x.reshape(20, 4, 4).astype('d')))
// expect: y = np.stack([d, d, d * 0], axis=1)
uint t = thread_position_in_grid.x;
matrix<T, 4, 4> m;
for (int k = 0; k < 16; ++k) m[k / 4][k % 4] = x[16 * t + k];
y[3 * t] = determinant(m);
y[3 * t + 1] = determinant(transpose(m));
m[3] = m[0];
y[3 * t + 2] = determinant(m);
