// One thread for each element of the product.
// input: a = T[9, 20] integers(-3, 3)
// input: b = T[20, 13] integers(-3, 3)
// output: c = T[9, 13]
// dtypes: float32 float16 bfloat16
// grid: 13 9
// threadgroup: 8 8
// expect: c = a @ b
uint2 at = thread_position_in_grid.xy;
float sum = 0;
for (int k = 0; k < 20; k++) sum += float(a[at.y * 20 + k]) * float(b[k * 13 + at.x]);
c[at.y * 13 + at.x] = T(sum);
