// Python numbers of several types as 0-d inputs.
// input: flag = bool True
// input: small = int8 -3
// input: big = int64 1 << 40
// input: real = float32 0.5
// input: thin = float16 1.5
// output: y = float32[33]
// output: z = int64[33]
// grid: 33
// threadgroup: 33
// expect: y = tid * 0.5 + 1.5
// expect: z = tid * 2**40 - 3
uint i = thread_position_in_grid.x;
y[i] = flag ? float(i) * real + thin : -1.0f;
z[i] = big * i + small;
