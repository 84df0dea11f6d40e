// (4 columns of 2) · (3 columns of 4) has 3 columns of 2; a chain of three products.
// input: x = float32[8] integers(-5, 5)
// input: z = float32[12] integers(-5, 5)
// output: y = float32[6]
// output: w = float32[3]
// grid: 1
// where:
//     a, b = x.reshape(4, 2).T, z.reshape(3, 4).T
// expect: y = (a @ b).T
// expect: w = a[0] @ b
float4x2 a(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]);
float3x4 b(z[0], z[1], z[2], z[3], z[4], z[5], z[6], z[7], z[8], z[9], z[10], z[11]);
float3x2 p = a * b;
float3 row = float2(1, 0) * a * b;
for (int i = 0; i < 6; ++i) y[i] = p[i / 2][i % 2];
for (int i = 0; i < 3; ++i) w[i] = row[i];
