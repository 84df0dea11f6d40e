// A static table that is no constant.
// output: y = float32[4]
// grid: 4
// error: static variable 'table' must reside in constant address space at 6:14
uint t = thread_position_in_grid.x;
static float table[4] = {1, 2, 3, 4};
y[t] = table[t];
table[t] += 1;
