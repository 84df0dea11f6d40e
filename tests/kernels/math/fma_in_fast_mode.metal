// fma is one rounding in every mode: the error of a product, exactly.
// input: a = float32[50] uniform(1, 2)
// input: b = float32[50] uniform(1, 2)
// output: y = float32[50]
// grid: 50
// threadgroup: 32
// math_mode: fast
// where:
//     product = a * b
// expect: y = a.astype('d') * b - product
uint i = thread_position_in_grid.x;
float product = a[i] * b[i];
y[i] = fma(a[i], b[i], -product);
