// Where a pragma says so, products and sums of vectors are rounded one by one.
// input: x = float32[2] [1 + 2**-13, -1 - 2**-12]
// output: y = float32[4]
// grid: 1
// threadgroup: 1
// expect: y = [0, 0, 0, 0]
#pragma METAL fp contract(off)
*(device float4*)y = float4(x[0]) * x[0] + x[1];
