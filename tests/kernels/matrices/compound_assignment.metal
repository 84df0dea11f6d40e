// += -= *= of matrices, writes to columns and components.
// dtypes: float32 float16
// input: x = T[9] integers(-9, 9)
// output: y = T[9]
// grid: 1
// where:
//     m = x.reshape(3, 3) * 2 + x.reshape(3, 3).T
//     m[1] = [7, 8, 9]
//     m[2, 0] += 100
// expect: y = m * 0.5
matrix<T, 3, 3> m(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]);
matrix<T, 3, 3> t = transpose(m);
m += m;
m -= -t;
m[1] = vec<T, 3>(7, 8, 9);
m[2].x += 100;
m *= T(0.5);
for (int i = 0; i < 9; ++i) y[i] = m[i / 3][i % 3];
