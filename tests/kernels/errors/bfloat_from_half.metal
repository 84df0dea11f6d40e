// The two types of 16 bits do not convert into each other by themselves.
// input: x = float16[8] normal
// output: y = bfloat16[4]
// grid: 4
// error: write bfloat\(x\) at 6:8
bfloat b = x[0];
y[0] = b;
