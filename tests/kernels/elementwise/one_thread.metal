// A single thread does it all.
// input: x = float32[100] integers
// output: y = float32[1]
// grid: 1
// threadgroup: 256
// expect: y = x.sum()
float sum = 0;
for (uint i = 0; i < 100; i++) sum += x[i];
y[0] = sum;
