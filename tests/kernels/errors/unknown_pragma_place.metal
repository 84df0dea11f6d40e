// Contraction is set at the start of a block.
// output: y = float32[4]
// grid: 4
// error: can only appear at file scope or at the start of a compound statement at 6:15
y[0] = 1;
#pragma METAL fp contract(off)
