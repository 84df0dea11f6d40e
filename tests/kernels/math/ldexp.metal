// Scaling by powers of two, to infinity and to zero, with vectors of exponents.
// input: x = float32[40] normal(0, 100)
// input: k = int32[40] np.resize([0, 1, -1, 10, -10, 100, -300, 300, 127, 128, -100, 1000, -1000, 20, 30, -40], 40)
// output: y = float32[40]
// grid: 8
// threadgroup: 3
// expect: y = np.ldexp(x.astype('d'), k)
uint i = 5 * thread_position_in_grid.x;
float4 v = ldexp(float4(x[i], x[i + 1], x[i + 2], x[i + 3]), int4(k[i], k[i + 1], k[i + 2], k[i + 3]));
for (uint j = 0; j < 4; ++j) y[i + j] = v[j];
y[i + 4] = ldexp(x[i + 4], k[i + 4]);
