// 30 inputs and an output.
// input: x0 = float32[8] normal
// input: x1 = float32[8] normal
// input: x2 = float32[8] normal
// input: x3 = float32[8] normal
// input: x4 = float32[8] normal
// input: x5 = float32[8] normal
// input: x6 = float32[8] normal
// input: x7 = float32[8] normal
// input: x8 = float32[8] normal
// input: x9 = float32[8] normal
// input: x10 = float32[8] normal
// input: x11 = float32[8] normal
// input: x12 = float32[8] normal
// input: x13 = float32[8] normal
// input: x14 = float32[8] normal
// input: x15 = float32[8] normal
// input: x16 = float32[8] normal
// input: x17 = float32[8] normal
// input: x18 = float32[8] normal
// input: x19 = float32[8] normal
// input: x20 = float32[8] normal
// input: x21 = float32[8] normal
// input: x22 = float32[8] normal
// input: x23 = float32[8] normal
// input: x24 = float32[8] normal
// input: x25 = float32[8] normal
// input: x26 = float32[8] normal
// input: x27 = float32[8] normal
// input: x28 = float32[8] normal
// input: x29 = float32[8] normal
// output: y = float32[8]
// grid: 8
// threadgroup: 8
uint i = thread_position_in_grid.x;
y[i] = x0[i] + x1[i] + x2[i] + x3[i] + x4[i] + x5[i] + x6[i] + x7[i] + x8[i] + x9[i] + x10[i] + x11[i] + x12[i] + x13[i] + x14[i] + x15[i] + x16[i] + x17[i] + x18[i] + x19[i] + x20[i] + x21[i] + x22[i] + x23[i] + x24[i] + x25[i] + x26[i] + x27[i] + x28[i] + x29[i];
