// Metal has no inline assembly.
// output: y = int32[4]
// grid: 4
// error: 'asm' is not supported in Metal at 5:1
asm("nop");
y[thread_position_in_grid.x] = 1;
